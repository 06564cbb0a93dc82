"""The whole contract, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from ninefold.checked.resources import Resource
from ninefold.checked.service import Accepted, Checked, Places
from ninefold.checks.assignments import storable
from ninefold.checks.authentication import caller_type, check_schemes, row_rules, seen_by_nobody
from ninefold.checks.callers import check_scopes, not_shown_to_all, one_value, read_by_nobody
from ninefold.checks.contents import check_views
from ninefold.checks.credentials import kept_credentials, never_issued
from ninefold.checks.disclosure import disclosed, narrowed
from ninefold.checks.endpoints import check_endpoints
from ninefold.checks.errors import check_errors, unused_codes
from ninefold.checks.event_log import event, has_log, with_log, with_streamed
from ninefold.checks.events import check_events
from ninefold.checks.findings import Findings
from ninefold.checks.limits import check_limits
from ninefold.checks.lists import growth
from ninefold.checks.model import Vocabulary, known_to, model
from ninefold.checks.numbers import before_their_numbers, of_their_numbers
from ninefold.checks.parameters import check_cors, check_requests
from ninefold.checks.records import check_records
from ninefold.checks.resources import check_resources
from ninefold.checks.showing import Showing
from ninefold.checks.states import check_states, check_timers, odd_states
from ninefold.checks.subscriptions import has_subscriptions, subscription, with_subscriptions
from ninefold.checks.versioning import check_versioning
from ninefold.checks.without_effect import without_effect
from ninefold.contract.questions.ask import accepted_proposals
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Outcome, has_errors, in_order
from ninefold.diagnostics.source import Span, Spans
from ninefold.expressions.ast import Member, every
from ninefold.expressions.ast import Name as NameAst
from ninefold.language.declaration import said
from ninefold.language.expressions import expressions_in
from ninefold.language.fact import text_of, value_of
from ninefold.language.question import OpenQuestion
from ninefold.plan.events import EVENT, SUBSCRIPTION
from ninefold.plan.service import OperatorValue
from ninefold.syntax.proposals import proposals

CHECKS = (
    odd_states,
    unused_codes,
    without_effect,
    never_issued,
    kept_credentials,
    storable,
    check_scopes,
    one_value,
    read_by_nobody,
    not_shown_to_all,
)
"""What can be said of a contract as it is stated, without types."""


def check(contract: Contract, open_questions: tuple[OpenQuestion, ...]) -> Outcome[Checked | None]:
    """What can be served of a contract. None if it holds an error: then nothing is served, since nobody could
    say which of two meanings was meant."""
    findings = Findings(contract)
    checked = _checked(contract, open_questions, findings)
    for each in CHECKS:
        each(findings)
    diagnostics = in_order(findings.diagnostics)
    if has_errors(diagnostics):
        return Outcome(None, diagnostics)
    return Outcome(checked(), diagnostics)


def _resources(open_questions: tuple[OpenQuestion, ...], findings: Findings) -> tuple[dict[str, Resource], Vocabulary]:
    """The resources of which all is known, with those that the language has itself, and what expressions may name."""
    contract = findings.contract
    known = known_to(findings)
    vocabulary = model(known, caller_type(contract, known), findings)
    resources = check_resources(known, vocabulary, findings)
    read = has_log(contract)
    if read is not None:
        # What a row is made of and always holds does not depend on what has happened; whatever happens may.
        vocabulary = with_log(vocabulary, contract)
        resources[EVENT] = event(read, findings)
    resources = check_states(resources, open_questions, vocabulary, findings)
    vocabulary = with_streamed(vocabulary, contract)
    subscribed = has_subscriptions(contract)
    if subscribed is not None:
        vocabulary = with_subscriptions(vocabulary, contract)
        resources[SUBSCRIPTION] = subscription(subscribed, findings)
    return resources, vocabulary


def _checked(contract: Contract, open_questions: tuple[OpenQuestion, ...], findings: Findings) -> Callable[[], Checked]:
    """Checks each part; what comes of it is put together where nothing is wrong."""
    resources, vocabulary = _resources(open_questions, findings)
    check_views(Showing(resources, vocabulary, findings))
    records = check_records(resources, findings)
    schemes = check_schemes(resources, vocabulary, findings)
    rules = row_rules(resources, vocabulary, findings)
    errors = check_errors(resources, vocabulary, findings)
    operator = tuple(_operator_values(findings))
    events = check_events(resources, vocabulary, findings)
    check_timers(resources, events, vocabulary.model, findings)
    served, stopped = check_endpoints(open_questions, resources, vocabulary, events, findings)
    narrowed(served, resources, rules, vocabulary.model, findings)
    disclosed(served, resources, rules, findings)
    seen_by_nobody(served, rules, findings)
    before_their_numbers(served, resources, vocabulary.model, findings)
    of_their_numbers(served, resources, vocabulary.model, findings)
    growth(served, resources, rules, findings)
    versions = check_versioning(vocabulary, findings)
    limits = check_limits(vocabulary, findings)
    cors = check_cors(findings)
    left_out = ((each, findings.place(each.span).line) for each in open_questions if each.left_out)
    name = PurePath(contract.document.source.name).stem
    return lambda: Checked(
        name=name,
        title=contract.document.title or name,
        model=vocabulary.model,
        resources=resources,
        records=records,
        types=findings.schemas.all(),
        endpoints=served,
        stopped=stopped,
        schemes=schemes,
        row_rules=rules,
        errors=errors,
        limits=limits,
        events=events,
        versions=versions,
        cors=cors,
        operator=operator,
        not_in_force=tuple(sorted(findings.not_in_force, key=lambda each: each.place)),
        left_out=tuple(f"{question.text}: {question.left_out} (line {line})" for question, line in left_out),
        proposals=tuple(_accepted(contract)),
        places=Places(contract.document),
        said={key: plain for name, part in contract.parts if name != "limits" for key, plain in said(part).items()},
        **_words(findings),
    )


def _words(findings: Findings) -> dict[str, Any]:
    """What is stated of all requests and responses, by the names that it has in `Checked`. Where it is a gap, the
    endpoints that need it are blocked, and what stands here is never seen."""
    contract = findings.contract
    return {
        "unseen_rows": text_of(contract.authentication.unseen_rows) or "not found",
        "base": value_of(contract.endpoints.base) or "",
        "requests": check_requests(value_of(contract.endpoints.requests)),
        "produces": text_of(contract.endpoints.produces),
    }


def _accepted(contract: Contract) -> Iterator[Accepted]:
    """The proposals that are in force, as they are written."""
    proposed = proposals(contract.document)
    spans = Spans(accepted_proposals(contract) if proposed else ())
    for written in proposed:
        if spans.meet(written.span):
            yield Accepted(written.path, contract.document.source.place(written.key.start))


def _operator_values(findings: Findings) -> Iterator[OperatorValue]:
    """Every `operator.NAME`, whatever reads it, and the endpoints that nobody can be known to, or whose events cannot
    be told, without it. What else an endpoint needs shows in its plan (`ninefold.compile.service`)."""
    contract = findings.contract
    places: dict[str, list[Span]] = {}
    for _, part in contract.parts:
        for name, span in _operator_names(part):
            places.setdefault(name, []).append(span)
    schemes: dict[str, set[str]] = {}
    for scheme in findings.survey.schemes:
        for name, _ in _operator_names(scheme):
            schemes.setdefault(name, set()).add(scheme.name)
    delivery = value_of(contract.events.delivery)
    envelope = None if delivery is None else value_of(delivery.envelope)
    # Without the source of its envelope no event can be sent.
    sources = {name for name, _ in _operator_names(envelope)}
    for name, spans in sorted(places.items()):
        blocks = []
        for endpoint in findings.survey.endpoints:
            who = {each.who.text for each in findings.survey.admitted(endpoint)}
            if (name in sources and endpoint.streams) or (who and who <= schemes.get(name, set())):
                blocks.append(endpoint.key)
        yield OperatorValue(name, tuple(findings.place(span) for span in sorted(spans)), tuple(blocks))


def _operator_names(facts: object) -> Iterator[tuple[str, Span]]:
    """The names after `operator.` in all expressions of some facts, each with the expression's place."""
    for expression in expressions_in(facts):
        for node in every(expression.ast):
            if isinstance(node, Member) and isinstance(node.operand, NameAst) and node.operand.name == "operator":
                yield node.name, expression.span
