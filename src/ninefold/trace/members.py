"""The members of a body and of a payload, with what their values come from: told by the expressions and columns that
give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

import msgspec

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.functions import AT_RANDOM, NEW_EACH_TIME
from ninefold.expressions.tree import Call, Select, Typed, Variable, parts
from ninefold.plan import environment
from ninefold.plan.events import Event
from ninefold.plan.operations import List, Operation, Read, Sweep
from ninefold.plan.problems import ErrorCode, Problems
from ninefold.plan.responses import ArrayOf, ChoiceOf, Content, EachOf, EachRow, FromColumn, FromExpression, ObjectOf
from ninefold.plan.statement import ResultColumn, Statement
from ninefold.plan.writes import Assign, Write, given_values
from ninefold.trace.causes import (
    Cause,
    Fixed,
    Given,
    Made,
    Member,
    Occurrence,
    Path,
    Refusal,
    Requested,
    Stated,
    Stored,
)
from ninefold.values import Anything, Array, Object, Type

_ROOTS: dict[str, Cause] = {
    "now": Made("the time of the request"),
    "request": Requested("its parameters and headers"),
    "issued": Made("a credential or secret that was just made"),
    "granted": Made("what comes with a credential that was just made"),
    "page": Made("what the page is of the list"),
    "claims": Requested("the credential"),
    environment.PATH: Requested("the path"),
    environment.BODY: Requested("the body"),
}

_MADE = dict.fromkeys(AT_RANDOM, "something at random") | dict.fromkeys(NEW_EACH_TIME - AT_RANDOM, "the next number")


def stated(places: Sequence[Place], what: str = "") -> tuple[Cause, ...]:
    return tuple(Stated(place, what) for place in dict.fromkeys(places))


def once(*causes: Cause) -> tuple[Cause, ...]:
    return tuple(dict.fromkeys(causes))


def read_by(typed: Typed) -> Iterator[Cause]:
    """What an expression reads. What it is made of besides stands in the contract."""
    match typed:
        case Select(operand=Variable(name="operator"), name=name):
            yield Given(f"operator.{name}")
        case Select(operand=Variable(name="caller"), name="credential"):
            yield Requested("the credential, or what was made of one")
        case Select(operand=Variable(name="caller"), name=name):
            yield Stored(f"caller.{name}, whose the credential is")
        case Select(operand=Select(operand=Variable(name="before"), name=resource), name=name):
            yield Stored(f"{resource}.{name}, as it was")
        case Variable(name="before"):
            yield Stored("the row as it was")
        case Variable(name="caller"):
            yield Stored("whose the credential is")
        case Variable(name="operator"):
            yield Given("operator")
        case Variable(name=name) if name in _ROOTS:
            yield _ROOTS[name]
        case _:
            if isinstance(typed, Call) and typed.function in _MADE:
                yield Made(_MADE[typed.function])
            for part in parts(typed):
                yield from read_by(part)


@dataclass(frozen=True)
class Shown:
    """What a content is shown from: the columns of a result, and of a write what gives the fields of its row, and where
    that is stated (`givers`). `listed`: where it is stated which rows of a list there are, and in which order."""

    columns: Sequence[ResultColumn] = ()
    resource: str | None = None
    assigns: Sequence[Assign] = ()
    givers: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    listed: tuple[Place, ...] = ()
    of_rows: Sequence[ResultColumn] = ()
    """The columns of the rows of a page, beside which the others stand."""

    def members(self, content: Content, path: Path = ()) -> Iterator[Member]:
        """The member at a path, and those below it, in written order."""
        causes = stated(content.trace)
        match content:
            case FromColumn(column=column):
                known = column < len(self.columns)
                whole = known and holds_more(self.columns[column].type)
                value = self.column(self.columns[column].name) if known else (Stored("a row"),)
                yield Member(path, causes, value, whole)
            case FromExpression(expression=expression):
                value = once(*causes, *read_by(expression))
                yield Member(path, causes, value, holds_more(expression.type))
            case ObjectOf(members=members):
                yield Member(path, causes)
                asked = dict(content.expanded)
                for name, value_of in members:
                    own = self.members(value_of, (*path, name))
                    instead = asked.pop(name, None)
                    yield from own if instead is None else _either(own, self.members(instead, (*path, name)))
                for name, value_of in asked.items():
                    yield from self.members(value_of, (*path, name))
            case ArrayOf(items=items):
                yield Member(path, causes)
                for number, item in enumerate(items):
                    yield from self.members(item, (*path, number))
            case EachRow(item=item):
                yield Member(path, causes, once(Stored("which rows there are"), *stated(self.listed)))
                yield from _elements(replace(self, columns=self.of_rows).members(item, (*path, None)), causes)
            case EachOf(columns=columns, item=item):
                yield Member(path, causes, (Stored("which items there are"),))
                yield from _elements(Shown(columns).members(item, (*path, None)), causes)
            case ChoiceOf(condition=condition, yes=yes, no=no):
                # Which of them it is, the row says: each member that either has is there for the condition too.
                (holds,) = self.members(condition, path)
                for member in of_both(self.members(yes, path), self.members(no, path)):
                    found = once(*causes, *member.causes) if member.path == path else member.causes
                    yield msgspec.structs.replace(member, causes=found, value=once(*member.value, *holds.value))

    def column(self, title: str) -> tuple[Cause, ...]:
        """What a column's value comes from, by its title: `order.total`."""
        found: list[Cause] = [Stored(title if "." in title else "rows of the database")]
        resource, _, name = title.partition(".")
        for assign in self.assigns:
            if (resource, name) == (self.resource, assign.field):
                if assign.given:
                    found.append(Requested("the body"))
                if assign.otherwise is not None:
                    found += read_by(assign.otherwise)
        of_field = self.givers.get(name, ()) if resource == self.resource else ()
        return once(*found, *stated(of_field))


def _either(own: Iterator[Member], instead: Iterator[Member]) -> Iterator[Member]:
    """Members of which a request chooses the ones or the others: which, their plan does not say."""
    first, other = next(own), next(instead)
    yield msgspec.structs.replace(
        first,
        causes=once(*first.causes, *other.causes),
        value=once(*first.value, *other.value),
        whole=first.whole or other.whole,
    )
    yield from own
    yield from instead


def of_both(yes: Iterable[Member], no: Iterable[Member]) -> Iterator[Member]:
    """The members of the one and of the other, those that both have as one."""
    found: dict[Path, Member] = {}
    for member in (*yes, *no):
        known = found.get(member.path, member)
        found[member.path] = msgspec.structs.replace(
            known,
            causes=once(*known.causes, *member.causes),
            value=once(*known.value, *member.value),
            whole=known.whole or member.whole,
        )
    yield from found.values()


def _elements(members: Iterator[Member], causes: tuple[Cause, ...]) -> Iterator[Member]:
    """The first of some members is an element: it is there because its list is."""
    for number, member in enumerate(members):
        yield msgspec.structs.replace(member, causes=once(*causes, *member.causes)) if number == 0 else member


def holds_more(type_: Type) -> bool:
    """Whether a value may have members or elements of its own."""
    return isinstance(type_, Anything | Array | Object)


def shown_by(operation: Operation | None, end: int) -> Shown:
    """What the response of an operation is shown from, where it came to one of its good ends."""
    match operation:
        case Read():
            return Shown(operation.select.columns, operation.resource)
        case List(paging=paging):
            narrowed = [place for each in operation.filters for place in each.trace]
            listed = (*operation.seen, *narrowed, *operation.sort_trace, *dict.fromkeys(paging.places.values()))
            rows = operation.select.columns
            return Shown(_columns(operation.head), operation.resource, listed=listed, of_rows=rows)
        case Sweep(change=change):
            listed = (*operation.seen, *(place for each in operation.filters for place in each.trace))
            givers, rows = change.write.places, _columns(operation.items)
            return Shown(_columns(operation.head), operation.resource, givers=givers, listed=listed, of_rows=rows)
        case Write():
            done = operation.of_end(end) or operation
            return Shown(done.results, done.resource, given_values(done), done.places)
        case None:
            return Shown()
        case _:
            return Shown(_columns(operation.select))


def _columns(statement: Statement | None) -> tuple[ResultColumn, ...]:
    return () if statement is None else statement.columns


def arisen(event: Event) -> Occurrence:
    members = Shown(event.select.columns, event.resource).members(event.content)
    return Occurrence(event.kind, once(*stated(event.trace), Fixed("what events arise upon")), tuple(members))


@dataclass(frozen=True)
class Told:
    """An error: its code, among the `problems` of a service, and what refused the request."""

    code: ErrorCode
    problems: Problems
    refusals: Sequence[Refusal]

    def members(self, content: Content, path: Path = ()) -> Iterator[Member]:
        causes = stated(content.trace)
        match content:
            case ObjectOf(members=members):
                yield Member(path, causes)
                for name, value in members:
                    yield from self.members(value, (*path, name))
            case ArrayOf(items=items):
                yield Member(path, causes)
                for number, item in enumerate(items):
                    yield from self.members(item, (*path, number))
            case ChoiceOf(condition=condition, yes=yes, no=no):
                ((holds,), *branches) = (list(self.members(each, path)) for each in (condition, yes, no))
                for member in of_both(*branches):
                    yield msgspec.structs.replace(member, value=once(*member.value, *holds.value))
            case FromExpression(expression=expression):
                told = [cause for name in _of_root(expression, "error") for cause in self.value(name)]
                yield Member(path, causes, once(*causes, *told, *read_by(expression)), holds_more(expression.type))
            case _:
                yield Member(path, causes)

    def value(self, name: str) -> tuple[Cause, ...]:
        """What `error.NAME` tells."""
        places = self.code.places
        match name:
            case "code":
                return stated(self.code.trace)
            case _ if name == "status" or name in self.code.said:
                return stated([places[name]] if name in places else self.code.trace)
            case "detail":
                read = (Stored("the row"),) if self.code.detail is None else tuple(read_by(self.code.detail))
                return once(*stated([places[name]]), *read) if name in places else ()
            case "fields" | "messages":
                ruled = [each for each in self.refusals if each.rule is not None]
                keys = [(f"messages {each.rule}", "messages all others") for each in ruled]
                found = [next((key for key in each if key in self.problems.places), None) for each in keys]
                words = [self.problems.places[key] for key in found if key is not None]
                about = [places[key] for key in ("about", "title") if key in places and "about" in places]
                facts = [cause for each in ruled for cause in each.causes]
                return once(*stated([*words, *about]), *facts, Fixed("precedence"), Fixed("errors"))
            case _:
                return ()


def _of_root(typed: Typed, root: str) -> Iterator[str]:
    """The members of a root that an expression reads."""
    match typed:
        case Select(operand=Variable(name=name), name=member) if name == root:
            yield member
        case _:
            for part in parts(typed):
                yield from _of_root(part, root)
