"""Part 6: the kinds of event with their payloads, and their delivery."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ninefold.checked.contents import Content, Leaf
from ninefold.checked.contents import Object as ContentObject
from ninefold.checked.endpoints import Cause, Envelope, EventKind, Events, Stream, Subscribers, Webhooks
from ninefold.checked.resources import Resource
from ninefold.checks.assignments import OF_REQUESTS, roots
from ninefold.checks.contents import check_content
from ninefold.checks.credentials import check_payload
from ninefold.checks.event_log import HAPPENED, check_kept
from ninefold.checks.findings import Findings, condition, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.showing import Showing
from ninefold.checks.subscriptions import has_subscriptions
from ninefold.diagnostics.codes import (
    KIND_NOT_TOLD,
    SAYS_NOTHING,
    SIGNS_FOR_NOBODY,
    TIMER_WITHOUT_REQUEST,
    TWO_MEANINGS,
    TWO_RECEIVERS,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import reads_member
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Call, Constant, Select, Typed
from ninefold.language import events as stated
from ninefold.language.actions import Action
from ninefold.language.declaration import said
from ninefold.language.expressions import Expression, expressions_in
from ninefold.language.fact import BuiltIn, Fact, Gap, Proposal, Shown, StatedNone, value_of
from ninefold.plan.events import EVENT
from ninefold.values import Boolean, Object, Row, Text, Timestamp, Type

# ── Kinds and delivery ────────────────────────────────────────────────────────────────────────────────────────


def check_events(resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings) -> Events:
    showing = Showing(resources, vocabulary, findings)
    check_keys(has_subscriptions(findings.contract), findings)
    kinds = tuple(
        kind
        for each in value_of(findings.contract.events.kinds) or ()
        if (kind := _kind(each, resources, vocabulary, showing)) is not None
    )
    kept, delivery = check_kept(findings), value_of(findings.contract.events.delivery)
    if delivery is None:
        return Events(kinds, kept=kept)
    if isinstance(delivery.webhooks, Shown) and delivery.envelope is None and not _in_a_header(delivery.webhooks.value):
        _is_told(kinds, delivery.webhooks.span, findings)
    is_shown, envelope = _envelope(delivery, findings)
    if not is_shown:
        return Events(kinds, kept=kept)
    return Events(
        kinds,
        kept=kept,
        webhooks=_webhooks(delivery, resources, vocabulary, findings),
        stream=None if kept is None else _stream(delivery, findings),
        envelope=envelope,
    )


def _kind(
    kind: stated.EventKind, resources: Mapping[str, Resource], vocabulary: Vocabulary, showing: Showing
) -> EventKind | None:
    """None: when it arises or what it carries is a gap or wrong, and that has been said."""
    template, actions = value_of(kind.payload), value_of(kind.upon)
    if template is None or actions is None:
        return None
    findings = showing.findings
    subjects = dict.fromkeys(action.subject for action in actions if action.subject in resources)
    contents = {}
    conditions: dict[str, Typed | None] = {}
    if isinstance(kind.where, Gap | Proposal):
        return None  # which rows it arises of is not shown
    for subject in subjects:
        assert subject is not None
        before = len(findings.diagnostics)
        contents[subject] = shown = check_content(template, vocabulary.scope_of_change(subject), showing)
        if shown is not None:
            check_payload(shown, kind.span, findings)
        where = value_of(kind.where)
        conditions[subject] = None if where is None else condition(where, vocabulary.scope_of_change(subject), findings)
        if len(findings.diagnostics) > before:
            # What is wrong with it for one resource need not be told again for the next.
            return None
    causes = tuple(_causes(actions, contents, conditions))
    place, origin = findings.place(kind.span), kind.origin or kind.name
    return EventKind(kind.name, causes, place, origin, said=said(kind)) if causes else None


def _causes(
    actions: tuple[Action, ...], payloads: Mapping[str, Content | None], conditions: Mapping[str, Typed | None]
) -> Iterator[Cause]:
    for verb, subject in dict.fromkeys((action.verb, action.subject or "") for action in actions):
        payload = payloads.get(subject)
        if payload is not None:
            yield Cause(verb, subject, payload, conditions[subject])


def _in_a_header(webhooks: stated.Webhooks) -> bool:
    """Whether a header of deliveries reads the kind."""
    return any(reads_member(each.ast, "event", ("kind",)) for each in expressions_in(webhooks.headers))


def _is_told(kinds: Sequence[EventKind], span: Span, findings: Findings) -> None:
    """Whether a receiver of payloads as they are knows of what kind each is: one member says it in all of them."""
    told = [[_constants(cause.payload) for cause in kind.causes] for kind in kinds]
    names = {name for payloads in told for payload in payloads for name in payload}
    if len(kinds) > 1 and not any(_tells_apart(name, told) for name in names):
        words = ", ".join(f"`{kind.name}`" for kind in kinds)
        help = "`envelope: {format: cloudevents 1.0, source: …}` carries it as `type`"
        findings.say(
            KIND_NOT_TOLD, f"nothing in a webhook tells of which kind it is: {words}", Label(span), help=(help,)
        )


def _constants(payload: Content) -> dict[str, object]:
    """The members of a payload that are the same in each event."""
    if not isinstance(payload, ContentObject):
        return {}
    return {
        name: shown.expression.value
        for name, shown in payload.members
        if isinstance(shown, Leaf) and isinstance(shown.expression, Constant)
    }


def _tells_apart(name: str, told: Sequence[Sequence[Mapping[str, object]]]) -> bool:
    """Whether a member has one value in all payloads of a kind, and another in each kind."""
    values = [{repr(payload.get(name)) for payload in payloads} for payloads in told]
    return all(len(each) == 1 for each in values) and len(set().union(*values)) == len(values)


def _envelope(delivery: stated.Delivery, findings: Findings) -> tuple[bool, Envelope | None]:
    """Whether it is all shown what events are wrapped in, and what that is."""
    if not isinstance(delivery.envelope, Shown):
        return delivery.envelope is None or isinstance(delivery.envelope, StatedNone), None
    envelope = delivery.envelope.value
    source = value_of(envelope.source)
    if source is None or value_of(envelope.format) is None:
        return False, None
    # No request is there when an event leaves, and it has to look the same at each attempt.
    found = typed(source, Scope({"operator": Object()}), Text(), findings)
    return found is not None, None if found is None else Envelope(found, said=said(envelope))


def _webhooks(
    delivery: stated.Delivery, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> Webhooks | None:
    if not isinstance(delivery.webhooks, Shown):
        return None
    stated_webhooks = delivery.webhooks.value
    backoff, plain = value_of(stated_webhooks.backoff), said(stated_webhooks)
    signed = findings.contract.events.are_signed
    if (signed and value_of(stated_webhooks.signature) is None) or value_of(stated_webhooks.attempts) is None:
        return None
    if backoff is None and not isinstance(stated_webhooks.backoff, StatedNone):
        return None
    place = findings.place(delivery.webhooks.span)
    receivers = value_of(stated_webhooks.to)
    if receivers is None:
        return None
    if stated_webhooks.headers is not None and not isinstance(stated_webhooks.headers, Shown | StatedNone):
        return None
    to = None
    if not isinstance(receivers, BuiltIn):
        to = check_subscribers(stated_webhooks, resources, vocabulary, findings)
        if to is None:
            return None
    elif receivers.text not in resources:
        return Webhooks(backoff or (), place, signed, said=plain)  # nobody can subscribe
    headers = _headers(stated_webhooks, receivers.text, vocabulary, findings)
    return None if headers is None else Webhooks(backoff or (), place, signed, headers, to, said=plain)


_OUR_OWN = frozenset(["webhook-id", "webhook-timestamp", "webhook-signature", "content-type"])


def _headers(
    webhooks: stated.Webhooks, resource: str, vocabulary: Vocabulary, findings: Findings
) -> tuple[tuple[str, Typed], ...] | None:
    """What each delivery says besides; None: something of it is wrong, and that has been said."""
    found: list[tuple[str, Typed]] = []
    for each in value_of(webhooks.headers) or ():
        if each.name.casefold() in _OUR_OWN:
            message = f"`{each.name}` of a delivery says what is delivered, and is not the contract's to say"
            findings.say(TWO_MEANINGS, message, Label(each.span, "would be said twice"))
            return None
        value = _of_row(Shown(each.value, each.span), resource, {EVENT: HAPPENED}, Text(), vocabulary, findings)
        if value is None:
            return None
        found.append((each.name, value))
    return tuple(found)


def _stream(delivery: stated.Delivery, findings: Findings) -> Stream | None:
    if not isinstance(delivery.stream, Shown):
        return None
    over = tuple(each.text for each in delivery.stream.value)
    return Stream(findings.place(delivery.stream.span), over)


# ── Rows that say where events go ────────────────────────────────────────────────────────────────────────────────────


def check_keys(subscribed: Span | None, findings: Findings) -> None:
    """Whether it is said in one way where events go. `subscribed`: where subscriptions are made, ended or shown."""
    delivery = value_of(findings.contract.events.delivery)
    webhooks = None if delivery is None else value_of(delivery.webhooks)
    if webhooks is None:
        return
    if not isinstance(webhooks.to, Shown):
        return
    if not isinstance(webhooks.to.value, BuiltIn):
        if subscribed is not None:
            findings.say(
                TWO_RECEIVERS,
                f"events go to rows of `{webhooks.to.value.text}`, and nothing goes to a subscription",
                Label(subscribed, "a subscription"),
                Label(webhooks.to.span, "the rows"),
                help=("leave one of them out",),
            )
        return
    of_rows: tuple[tuple[str, Fact[Expression] | None], ...] = (
        ("where", webhooks.where),
        ("url", webhooks.url),
        ("secret", webhooks.secret),
    )
    for key, fact in of_rows:
        if isinstance(fact, Shown):
            findings.say(
                SAYS_NOTHING,
                f"`{key}` says nothing of webhooks that go to no rows of the contract",
                Label(fact.span, "whose?"),
                help=("say which resource holds the receivers: `to: RESOURCE`",),
            )


def check_subscribers(
    webhooks: stated.Webhooks, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> Subscribers | None:
    """None: something of it is a gap or wrong, and that has been said."""
    to = value_of(webhooks.to)
    resource = None if to is None else resources.get(to.text)
    if to is None or resource is None:
        return None
    if resource.name == EVENT:
        findings.say(
            TWO_MEANINGS,
            f"`{EVENT}` would be what has happened, and a row that is told of it",
            Label(to.span, "rows of this name"),
            help=("call the resource of the receivers otherwise",),
        )
        return None
    where = _of_row(webhooks.where, resource.name, {EVENT: HAPPENED}, Boolean(), vocabulary, findings)
    url = _of_row(webhooks.url, resource.name, {}, Text(), vocabulary, findings)
    secret = _of_row(webhooks.secret, resource.name, {}, Text(), vocabulary, findings)
    signed = findings.contract.events.are_signed
    if where is None or url is None or (signed and secret is None):
        return None
    if not signed and isinstance(webhooks.secret, Shown):
        message = "`secret` says nothing where deliveries are not signed"
        findings.say(SAYS_NOTHING, message, Label(webhooks.secret.span, "signs nothing"))
    if secret is not None and isinstance(webhooks.secret, Shown) and _is_prefixed_token(secret, resource):
        findings.say(
            SIGNS_FOR_NOBODY,
            "receivers that verify by a library of Standard Webhooks do not read this secret",
            Label(webhooks.secret.span, "`whsec_` and a `token()`: base64 for URLs"),
            help=(f"make it of `{LIKE_BASE64}`",),
        )
    return Subscribers(resource.name, where, url, secret)


LIKE_BASE64 = "'whsec_' + random(32)"
"""Small letters and digits, four by four: base64 of 24 bytes, in whatever alphabet it is read."""


def _is_prefixed_token(found: Typed, resource: Resource) -> bool:
    """Whether it is `'whsec_' + token()`, there or as fields of a row are given it on create."""
    match _as_made(found, resource):
        case Call("+", [Constant("whsec_"), token]):
            made = _as_made(token, resource)
            return isinstance(made, Call) and made.function == "token"
    return False


def _as_made(found: Typed, resource: Resource) -> Typed:
    if not isinstance(found, Select) or found.through != "field":
        return found
    return resource.fields[found.name].on_create or found


def _of_row(
    fact: Fact[Expression] | None,
    resource: str,
    more: Mapping[str, Type],
    type_: Type,
    vocabulary: Vocabulary,
    findings: Findings,
) -> Typed | None:
    """An expression over a row, with no request at hand: events also arise by the clock."""
    expression = value_of(fact)
    if expression is None:
        return None
    scope = Scope(
        {resource: Row(resource=resource), "operator": Object(), "now": Timestamp(), **more}, vocabulary.model
    )
    found = typed(expression, scope, type_, findings)
    if found is None:
        return None
    read = roots(found, vocabulary.model) & OF_REQUESTS
    for root in sorted(read):
        message = f"where events go depends on `{root}`"
        findings.say(TIMER_WITHOUT_REQUEST, message, Label(expression.span, f"reads `{root}`"))
    return None if read else found
