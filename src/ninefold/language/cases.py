"""Part 4: an endpoint of which an expression chooses what it does, as one endpoint for each of its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from ninefold.diagnostics.codes import CONTRADICTION, NOT_IN_FORM
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Member, Name
from ninefold.language import shapes
from ninefold.language.declaration import named
from ninefold.language.expressions import Expression, expression
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone
from ninefold.language.key import Kind
from ninefold.language.reading import Level, Reading
from ninefold.language.requests import DOES
from ninefold.syntax.nodes import Entry, Node
from ninefold.syntax.nodes import Mapping as MappingNode

T = TypeVar("T")

# fmt: off

BY = named(
    "by", Kind.ASKED, "What says which case it is: `request.body.NAME`, or a text that reads no row and no body.",
    "A gap: E is not served.", shapes.Expression(shapes.Sight.NONE), DOES)
CASE = named(
    "CASE", Kind.ADDS, "What is done where `by` is that text; `all others`: where it is the name of no case.",
    "A request that is of no case is refused.")

# fmt: on


@dataclass(frozen=True, slots=True)
class Case:
    """Which requests a case is of: those for which `by` gives its name; `name` None: `all others`. `all`: the names
    of the endpoint's cases. `has_rest`: one of them is `all others`. `among`: where they all stand. `position`: how
    many are written before it."""

    by: Fact[Expression] | None
    name: str | None
    span: Span
    all: tuple[str, ...]
    has_rest: bool
    among: Span
    position: int = 0

    @property
    def called(self) -> str:
        """As a contract names it."""
        return self.name or ALL_OTHERS

    @property
    def is_last(self) -> bool:
        """Whether it is written behind the others."""
        return self.position == len(self.all) + self.has_rest - 1

    @property
    def member(self) -> str | None:
        """The member of the body by which it is chosen: that of `request.body.kind`."""
        match None if not isinstance(self.by, Shown) else self.by.value.ast:
            case Member(operand=Member(operand=Name(name="request"), name="body"), name=name):
                return name
            case _:
                return None


ALL_OTHERS = "all others"
"""The case of the requests that are of no other."""

OTHERWISE = "otherwise"
"""What that case was called once."""

Read: TypeAlias = Callable[[Reading, Entry], Mapping[str, Any]]
"""Reads what a case states, by the names that these things have in a record of endpoints."""


@dataclass(frozen=True, slots=True)
class _Cases:
    """`cases` as it is written, each with what it states."""

    by: Fact[Expression] | None
    said: tuple[tuple[Entry, Mapping[str, Any]], ...]


def in_cases(level: Level, whole: T, read: Read) -> tuple[T, ...]:
    """The endpoint in each of its cases; itself where there are none."""
    r, cases = level.reading, level.known.get("cases")
    at = cases.key.span if cases is not None else level.node.span
    fact = level.fact("cases", lambda r, node, slot: _cases(r, node, read))
    match fact:
        case Shown(value=_Cases(by, said)) if said:
            _holding_nowhere(r, level, said)
            names = tuple(entry.name for entry, _ in said if entry.name != ALL_OTHERS)
            has_rest = len(names) < len(said)
            return tuple(
                replace(whole, case=Case(by, _name(entry), entry.key.span, names, has_rest, at, number), **facts)  # type: ignore[type-var]
                for number, (entry, facts) in enumerate(said)
            )
        case Gap(span=span) | Proposal(span=span) | Shown(value=_Cases(Gap(span=span) | Proposal(span=span), ())):
            # Which cases there are is not shown; what would choose between them is asked for.
            return (replace(whole, case=Case(Gap(span), None, span, (), False, span)),)  # type: ignore[type-var]
        case _:
            return (whole,)


def _name(entry: Entry) -> str | None:
    return None if entry.name == ALL_OTHERS else entry.name


def _cases(r: Reading, node: Node, read: Read) -> _Cases | None:
    level = r.keyed(node, {BY.name: BY}, "cases", is_open=True)
    for entry in level.named:
        if entry.name == OTHERWISE:
            r.unknown(entry.key, "cases", (), (f"write `{ALL_OTHERS}`",))
    if not isinstance(node, MappingNode):
        return None
    said = level.declared(lambda entry: (entry, read(r, entry)))
    if not said:
        help = ("write `cases: {by: request.body.kind, card: {body: […]}, …}`",)
        r.say(NOT_IN_FORM, "`cases` has no case", Label(node.span), help=help)
    by = level.fact(BY.name, expression)
    return _Cases(by, said)


def _holding_nowhere(r: Reading, level: Level, said: tuple[tuple[Entry, Mapping[str, Any]], ...]) -> None:
    """Says what stands beside the cases, and in each of them as well: it would hold in none."""
    if all(entry.name != ALL_OTHERS for entry, _ in said):
        return
    for key, beside in level.known.items():
        spans = [_written_at(entry, key) for entry, _ in said]
        if all(spans):
            r.say(
                CONTRADICTION,
                f"`{key}` of `{level.called}` holds in none of its cases",
                Label(beside.key.span),
                *(Label(span, "in its place") for span in spans[0]),
                help=("leave it out here, or in the cases in which it holds",),
            )


def _written_at(entry: Entry, key: str) -> tuple[Span, ...]:
    found = entry.value.get(key) if isinstance(entry.value, MappingNode) else None
    return () if found is None else (found.key.span,)


def each_case(fact: Fact[tuple[tuple[T, ...], ...]] | None) -> Fact[tuple[T, ...]] | None:
    """The endpoints, each in each of its cases, as one row of them."""

    def flat(several: tuple[tuple[T, ...], ...]) -> tuple[T, ...]:
        return tuple(each for one in several for each in one)

    match fact:
        case Shown():
            return Shown(flat(fact.value), fact.span, fact.proposed)
        case Proposal(candidate=Shown() as shown):
            return Proposal(Shown(flat(shown.value), shown.span, shown.proposed), fact.span)
        case Proposal(candidate=StatedNone() as none):
            return Proposal(none, fact.span)
        case None | StatedNone() | Gap():
            return fact
        case Proposal(span=span):
            return Gap(span)
