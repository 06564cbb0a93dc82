"""The keys of part 6: events and their delivery."""

from __future__ import annotations

from ninefold.language.key import Key, adds, asked, asked_when, restricts
from ninefold.language.shapes import (
    Duration,
    Expression,
    HeaderName,
    Integer,
    ListOf,
    MappingOf,
    Members,
    Name,
    OneOf,
    Template,
    Text,
    Word,
)

KINDS = "kinds"
UPON = "upon"
PAYLOAD = "payload"
DELIVERED = "delivery"
LOG = "log"

_NOT_SENT = "A gap: no event is delivered this way."

KEYS: tuple[Key, ...] = (
    asked(6, "kinds", MappingOf("kinds to when they arise"), KINDS, "The kinds of event.",
          "A gap: there are no events.", says_none=True),
    adds(6, "kinds.KIND", Members(), "A kind of event, written in the transaction of its cause.",
         "No such event arises."),
    asked(6, "kinds.KIND.upon", OneOf((Text("an action such as `place order`"), ListOf(Text("an action")))), UPON,
          "The action or actions that it arises upon.", "A gap: no event of the kind arises."),
    asked(6, "kinds.KIND.payload", Template(), PAYLOAD, "What it carries: a view or a template.",
          "A gap: no event of the kind arises."),
    restricts(6, "kinds.KIND.when", Expression(),
              "Which rows the event arises of: those of which it is true, as they have become.",
              "It arises of every row."),
    asked(6, "delivery", Members(), DELIVERED, "How events reach others.", "A gap: no event is delivered.",
    says_none=True),
    adds(6, "delivery.webhooks", Members(), "Delivery to the addresses of subscriptions, at least once.",
         "No webhook is called."),
    asked(6, "delivery.webhooks.signature", Word(("standard-webhooks",)), DELIVERED,
          "How a delivery is signed: Standard Webhooks 1.0.", _NOT_SENT),
    asked(6, "delivery.webhooks.attempts", Integer(1), DELIVERED,
          "How many attempts are made, the first one included.", _NOT_SENT),
    asked(6, "delivery.webhooks.backoff", ListOf(Duration()), DELIVERED,
          "The wait before each further attempt; the last counts for all that come after it.", _NOT_SENT),
    asked_when(6, "delivery.stream", Members(), DELIVERED, "an endpoint streams events",
              "Delivery to those who hold a connection.",
          "A gap: no event is delivered this way. Else there is no stream.", says_none=True),
    asked(6, "delivery.stream.format", Word(("server-sent events",)), DELIVERED, "How the stream is written.",
          _NOT_SENT),
    adds(6, "delivery.stream.resume", HeaderName(), "The request header that names the last event seen.",
         "A stream starts with what comes next."),
    asked(6, "delivery.stream.kept", Duration(), DELIVERED, "How long events are kept to resume from.", _NOT_SENT),
    adds(6, "delivery.broker", Name("a broker that the operator gives, `operator.NAME`"), "Delivery to a broker.",
         "Nothing is sent to a broker."),
    adds(6, "delivery.envelope", Members(), "What every event is wrapped in.", "Events are sent as they are.",
         says_none=True),  # that there is none on purpose: else `check` warns of webhooks that tell no kind
    asked(6, "delivery.envelope.format", Word(("cloudevents 1.0",)), DELIVERED, "The envelope's form.",
          "A gap: no event is delivered."),
    asked(6, "delivery.envelope.source", Expression(), DELIVERED, "The CloudEvents attribute `source`.",
          "A gap: no event is delivered."),
    adds(6, "delivery.order", Word(("per resource",)),
         "Events of one row are delivered in the order of their commits.", "No order is promised."),
    adds(6, "delivery.webhooks.to", Name("a resource"), "Rows of the contract's own that say where events go.",
         "Events go to the subscriptions that the language has itself."),
    asked_when(6, "delivery.webhooks.when", Expression(), DELIVERED, "they go `to` rows of a resource",
          "Which events go to such a row; it reads `event` and the row.", "A gap: no event is delivered this way."),
    asked_when(6, "delivery.webhooks.url", Expression(), DELIVERED, "they go `to` rows of a resource",
              "The address of such a row.", "A gap: no event is delivered this way."),
    asked_when(6, "delivery.webhooks.secret", Expression(), DELIVERED, "they go `to` rows of a resource",
              "The signing secret of such a row.", "A gap: no event is delivered this way."),
    asked_when(6, "log", Members(), LOG, "an endpoint reads `event`",
              "What of the log can be read, as the resource `event`.", "A gap: it is not served."),
    asked_when(6, "log.lasts", Duration(), LOG, "an endpoint reads `event`",
              "How long an event can be read; `none`: without an end.", "A gap: it is not served.", says_none=True),
)  # fmt: skip
