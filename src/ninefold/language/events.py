"""Part 6: events and their delivery."""

from __future__ import annotations

from typing import Final, Literal

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import amounts, leaves, shapes
from ninefold.language.actions import Action, Actor, actions
from ninefold.language.declaration import Each, One, When, adds, asked, if_asked, named, restricts
from ninefold.language.expressions import Assignment, Expression, Template, header_values
from ninefold.language.fact import BuiltIn, Fact, Name, Shown, StatedNone, value_of
from ninefold.language.key import Kind
from ninefold.language.quantities import duration, waits
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot
from ninefold.language.verbs import SUBSCRIPTION
from ninefold.language.verbs import UPON as UPON_VERBS
from ninefold.syntax.nodes import Node, Scalar

# fmt: off

KINDS = Question(
    "kinds", 6, "which kinds of event there are, or none", "leaves out",
    "events; blocks the endpoints that stream them or take subscriptions", left_out="events")
UPON = Question("upon", 6, "when {} arises", "leaves out", "the kind", "K", left_out="events of the kind {}")
PAYLOAD = Question("payload", 6, "the payload of {}", "leaves out", "the kind", "K", left_out="events of the kind {}")
DELIVERY = Question(
    "delivery", 6, "how events are delivered", "leaves out", "delivery; blocks the endpoints that stream events",
    asked="if there are kinds")
KEPT = Question(
    "kept", 6, "how long events are kept", "blocks", "the endpoints that read, list or stream `event`",
    asked="if there are kinds and an endpoint reads, lists or streams `event`, the log, or something reads "
          "`all(event)`")

DOES_NOT_ARISE = "no event of the kind arises"
NOT_SENT = "no event is delivered this way"
NOT_DELIVERED = "no event is delivered"
NOT_READ = "it is not served"


@dataclass(frozen=True, slots=True)
class EventKind:
    """`origin`: the name of the kind in the document, where an older version has another one for it."""

    name: str
    span: Span
    upon: Fact[tuple[Action, ...]] | None = asked(
        "upon", shapes.OneOf((shapes.Text("an action such as `place order`"), shapes.ListOf(shapes.Text("an action")))),
        "The action or actions that it arises upon.", UPON, DOES_NOT_ARISE, main=True,
        meanings=("what events arise upon",),
        read=actions(Actor("an event's cause", UPON_VERBS)),
        words=lambda done: " or ".join(f"`{each.verb} {each.subject}`" for each in done))
    payload: Fact[Template] | None = asked(
        "payload", shapes.Template(), "What it carries: a view or a template.", PAYLOAD, DOES_NOT_ARISE, main=True,
        told="its payload", meanings=("before and after",), promise="add an event member")
    where: Fact[Expression] | None = restricts(
        "where", shapes.Expression(),
        "Which rows the event arises of: those of which it is true, as they have become.", "It arises of every row.",
        told="only where", meanings=("truth", "before and after"))
    origin: str | None = None


KIND = Each(
    EventKind,
    named("KIND", Kind.NAMES, "A kind of event, written in the transaction of its cause.",
        "No such event arises; each use of its name is an error.",
        promise="add an event kind"),
    "kinds to when they arise")

TO_ROWS = When(
    "`to` is a resource of the contract",
    lambda webhooks: isinstance(webhooks.to, Shown) and not isinstance(webhooks.to.value, BuiltIn))
SIGNED_TO_ROWS = When(
    f"{TO_ROWS.words} and deliveries are signed",
    lambda webhooks: TO_ROWS.holds_of(webhooks) and not isinstance(webhooks.signature, StatedNone))


def receivers(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The resource whose rows are told: one of the contract's own, or `subscription`."""
    name = leaves.name(r, node, slot)
    is_built_in = name is not None and name.text == SUBSCRIPTION and SUBSCRIPTION not in (r.written.resources or ())
    return BuiltIn(name.text, name.span) if name is not None and is_built_in else name


@dataclass(frozen=True, slots=True)
class Webhooks:
    """`backoff` in microseconds: the wait before each further attempt. `to`: the resource whose rows say where events
    go; `where` says which of them, `url` and `secret` are of such a row."""

    signature: Fact[Name] | None = asked(
        "signature", shapes.Word(("standard-webhooks",)),
        "How a delivery is signed: Standard Webhooks 1.0; `none`: it is not, and nobody has a secret for it.", DELIVERY,
        NOT_SENT, says_none=True)
    attempts: Fact[int] | None = asked(
        "attempts", shapes.Integer(1), "How many attempts are made, the first one included.", DELIVERY, NOT_SENT,
        order="more", promise="raise a limit", planned=True)
    backoff: Fact[tuple[int, ...]] | None = asked(
        "backoff", shapes.ListOf(shapes.Duration()),
        "The wait before each further attempt; the last counts for all that come after it.", DELIVERY, NOT_SENT,
        told="waits between them", read=waits, order="sequence")
    to: Fact[Name] | None = asked(
        "to", shapes.Name("a resource"),
        "The resource whose rows say where events go: `subscription`, which the language has itself, or one of the "
        "contract's own.", DELIVERY, NOT_SENT, told="to each", meanings=("subscriptions", "webhooks to rows"),
        read=receivers)
    where: Fact[Expression] | None = asked(
        "where", shapes.Expression(), "Which events go to such a row; it reads `event` and the row.", DELIVERY,
        NOT_SENT, when=TO_ROWS, told="which events", meanings=("truth", "before and after"),
        order="condition")
    url: Fact[Expression] | None = asked(
        "url", shapes.Expression(), "The address of such a row.", DELIVERY, NOT_SENT, when=TO_ROWS, told="address")
    secret: Fact[Expression] | None = asked(
        "secret", shapes.Expression(), "The signing secret of such a row.", DELIVERY, NOT_SENT, when=SIGNED_TO_ROWS)
    headers: Fact[tuple[Assignment, ...]] | None = adds(
        "headers", shapes.MappingOf("headers to expressions"),
        "Headers of each delivery, such as an `Authorization` that the receiver asks for. They read `event` and the "
        "row, or the subscription, at each attempt.",
        "A delivery has no such headers.", read=header_values, told="with headers", below=(
            named("HEADER", Kind.ADDS, "Its value.", "There is no such header.", shapes.Expression(),
                  promise="add an event member"),), promise="add an event member")


_STREAM = shapes.Word(("server-sent events", "websocket"))
"""How a stream may be written."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every event is wrapped in."""

    format: Fact[Name] | None = asked(
        "format", shapes.Word(("cloudevents 1.0",)), "The envelope's form.", DELIVERY, NOT_DELIVERED)
    source: Fact[Expression] | None = asked(
        "source", shapes.Expression(shapes.Sight.NONE), "The CloudEvents attribute `source`.", DELIVERY, NOT_DELIVERED)


@dataclass(frozen=True, slots=True)
class Delivery:
    """`envelope: none` says that there is none on purpose: else `check` warns of webhooks that tell no kind."""

    webhooks: Fact[Webhooks] | None = asked(
        "webhooks", One(Webhooks), "Delivery to the addresses of subscriptions, at least once.", DELIVERY,
        f"{NOT_SENT}. Else no webhook is called", when=When("an endpoint does `create subscription`, the built-in one"),
        says_none=True, sentence="delivered by webhooks", meanings=("deliveries",))
    stream: Fact[tuple[Name, ...]] | None = asked(
        "stream", shapes.OneOf((_STREAM, shapes.ListOf(_STREAM))), "How those who hold a connection are told.",
        DELIVERY, f"{NOT_SENT}. Else there is no stream", when=When("an endpoint does `stream event`"), says_none=True,
        sentence="delivered as a stream of {}", meanings=("streams",), read=leaves.word_or_words,
        words=lambda found: ", ".join(each.text for each in found))
    envelope: Fact[Envelope] | None = adds(
        "envelope", One(Envelope), "What every event is wrapped in.", "Events are sent as they are.", says_none=True,
        sentence="in an envelope", meanings=("envelopes",), order="other")


ALWAYS: Final = "all"
"""What `kept` says of events that are kept without an end."""


def kept(r: Reading, node: Node, slot: Slot) -> int | Literal["all"] | None:
    """Microseconds, or that it is without an end."""
    return ALWAYS if isinstance(node, Scalar) and node.text == ALWAYS else duration(r, node, slot)


@dataclass(frozen=True, slots=True)
class Events:
    kinds: Fact[tuple[EventKind, ...]] | None = asked(
        "kinds",
        KIND, "The kinds of event.", KINDS, "there are no events", says_none=True, sentence="the event `{}`")
    delivery: Fact[Delivery] | None = asked(
        "delivery", One(Delivery), "How events reach others.", DELIVERY, NOT_DELIVERED, when=if_asked(DELIVERY),
        says_none=True)
    kept: Fact[int | Literal["all"]] | None = asked(
        "kept", shapes.OneOf((shapes.Duration(), shapes.Word((ALWAYS,)))),
        "How long an event can be read, and a stream be resumed behind it; `all`: without an end.", KEPT, NOT_READ,
        when=if_asked(KEPT), read=kept, told="events are kept for", meanings=("streams", "the log of events"),
        words=lambda found: "always" if found == ALWAYS else amounts.duration(found), order="more",
        promise="raise a limit")

    @property
    def are_signed(self) -> bool:
        """Whether deliveries are signed, as far as it is said."""
        delivery = value_of(self.delivery)
        webhooks = None if delivery is None else value_of(delivery.webhooks)
        return webhooks is None or not isinstance(webhooks.signature, StatedNone)
