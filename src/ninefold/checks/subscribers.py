"""Part 6: rows of the contract's own that say where events go."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.checked.events import Subscribers
from ninefold.checked.resources import Resource
from ninefold.checks.codes import SAYS_NOTHING, TIMER_WITHOUT_REQUEST, TWO_MEANINGS, TWO_RECEIVERS
from ninefold.checks.due import OF_REQUESTS, roots
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.contract.events import Webhooks
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Typed
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Shown, StatedNone, value_of
from ninefold.plan.events import EVENT
from ninefold.values import Boolean, Object, Row, Text, Timestamp, Type

HAPPENED = Object(
    members={
        "id": Text(),
        "kind": Text(),
        "time": Timestamp(),
        "resource": Text(),
        "row": Text(),
        "payload": Object(),
    }
)
"""The root `event`: what has just happened, as the version of the row has it."""


def check_keys(contract: Contract, subscribed: Span | None, findings: Findings) -> None:
    """Whether it is said in one way where events go. `subscribed`: where subscriptions are made, ended or shown."""
    delivery = value_of(contract.events.delivery)
    webhooks = None if delivery is None else value_of(delivery.webhooks)
    if webhooks is None:
        return
    if isinstance(webhooks.to, Shown):
        if subscribed is not None:
            findings.say(
                TWO_RECEIVERS,
                f"events go to rows of `{webhooks.to.value.text}`, and nothing goes to a subscription",
                Label(subscribed, "a subscription"),
                Label(webhooks.to.span, "the rows"),
                help=("leave one of them out",),
            )
        return
    if webhooks.to is not None and not isinstance(webhooks.to, StatedNone):
        return
    of_rows: tuple[tuple[str, Fact[Expression] | None], ...] = (
        ("when", webhooks.when),
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
    webhooks: Webhooks, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
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
    when = _of_row(webhooks.when, resource.name, {EVENT: HAPPENED}, Boolean(), vocabulary, findings)
    url = _of_row(webhooks.url, resource.name, {}, Text(), vocabulary, findings)
    secret = _of_row(webhooks.secret, resource.name, {}, Text(), vocabulary, findings)
    if when is None or url is None or secret is None:
        return None
    return Subscribers(resource.name, when, url, secret)


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
