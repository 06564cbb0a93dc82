"""Part 4: an endpoint whose bodies and responses an expression chooses, as one endpoint for each of its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ninefold.contract.endpoints import Case, Endpoint
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.codes import CONTRADICTION, NOT_IN_FORM
from ninefold.language.expressions import Expression, expression
from ninefold.language.fact import Fact, Gap, Proposal, Shown
from ninefold.language.reading import Level, Reading
from ninefold.syntax.nodes import Entry, Node
from ninefold.syntax.nodes import Mapping as MappingNode

OTHERWISE = "otherwise"
"""The case of the requests that are of no other."""


Read = Callable[[Reading, Level], Mapping[str, Any]]
"""Reads what a case states, by the names that these things have in `Endpoint`."""


@dataclass(frozen=True, slots=True)
class _Cases:
    """`cases` as it is written, each with what it states."""

    by: Fact[Expression] | None
    said: tuple[tuple[Entry, Mapping[str, Any]], ...]


def in_cases(r: Reading, level: Level, whole: Endpoint, read: Read) -> tuple[Endpoint, ...]:
    """The endpoint in each of its cases; itself where there are none."""
    at = level.known["cases"].key.span if "cases" in level.known else whole.span
    fact = level.fact("cases", lambda r, node, slot: _cases(r, node, read))
    match fact:
        case Shown(value=_Cases(by, said)) if said:
            _holding_nowhere(r, level, said)
            names = tuple(entry.name for entry, _ in said if entry.name != OTHERWISE)
            has_rest = len(names) < len(said)
            return tuple(
                replace(whole, case=Case(by, _name(entry), entry.key.span, names, has_rest, at, number), **facts)
                for number, (entry, facts) in enumerate(said)
            )
        case Gap(span=span) | Proposal(span=span) | Shown(value=_Cases(Gap(span=span) | Proposal(span=span), ())):
            # Which cases there are is not shown; what would choose between them is asked for.
            return (replace(whole, case=Case(Gap(span), None, span, (), False, span)),)
        case _:
            return (whole,)


def _name(entry: Entry) -> str | None:
    return None if entry.name == OTHERWISE else entry.name


def _cases(r: Reading, node: Node, read: Read) -> _Cases | None:
    level = r.level(node, 4, "ENDPOINT.cases", "cases")
    if not isinstance(node, MappingNode):
        return None
    if not level.named:
        help = ("write `cases: {by: request.body.kind, card: {body: […]}, …}`",)
        r.say(NOT_IN_FORM, "`cases` has no case", Label(node.span), help=help)
    by = level.fact("by", expression)
    return _Cases(by, tuple((entry, _said(r, entry, read)) for entry in level.named))


def _said(r: Reading, entry: Entry, read: Read) -> Mapping[str, Any]:
    level = r.level(entry.value, 4, "ENDPOINT.cases.CASE", entry.name)
    if level.gap is not None:
        return {"responses": Gap(level.gap)}
    with r.proposing(entry.proposed or entry.value.proposed):
        return {name: fact for name, fact in read(r, level).items() if fact is not None}


def _holding_nowhere(r: Reading, level: Level, said: tuple[tuple[Entry, Mapping[str, Any]], ...]) -> None:
    """Says what stands beside the cases, and in each of them as well: it would hold in none."""
    for key, name in (("body", "body"), ("sets", "sets"), ("when", "guards"), ("guards", "guards"),
                      ("responses", "responses"), ("headers", "headers")):  # fmt: skip
        beside = level.known.get(key)
        if beside is not None and all(name in facts for _, facts in said) and any(e.name == OTHERWISE for e, _ in said):
            spans = _written_at(said[0][0], key)
            r.say(
                CONTRADICTION,
                f"`{key}` of `{level.called}` holds in none of its cases",
                Label(beside.key.span),
                *(Label(span, "in its place") for span in spans),
                help=("leave it out here, or in the cases in which it holds",),
            )


def _written_at(entry: Entry, key: str) -> tuple[Span, ...]:
    found = entry.value.get(key) if isinstance(entry.value, MappingNode) else None
    return () if found is None else (found.key.span,)
