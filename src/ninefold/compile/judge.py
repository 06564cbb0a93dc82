"""The statement that says why an operation was refused: each requirement, asked by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Final

from ninefold.checked.operations import Operation
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import THERE, Requirement, Scope
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import of_request
from ninefold.expressions.rows import rows_read, unwritten
from ninefold.expressions.tree import Typed
from ninefold.language.conditions import CONDITIONS, Step, split
from ninefold.plan.problems import Condition, Judge, names, said_by
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.fragment import Fragment, all_of, bind, column, join
from ninefold.values import Boolean, Text, Type, optional


@dataclass(frozen=True)
class Made:
    """A value that the statement makes for `field`, and when it cannot be made. `asked`: where it is made at all.
    `is_held`: it is to be held to the field's schema."""

    field: str
    type: Type
    value: Fragment
    fails: Fragment
    is_held: bool = False
    asked: tuple[Fragment, ...] = ()


def judge(
    source: Fragment,
    requirements: Sequence[Requirement],
    operation: Operation,
    resource: Resource | None,
    perspective: Perspective,
    made: Sequence[Made] = (),
) -> Judge:
    """One row that says of each requirement whether it fails. What is about a row that is not there or not seen
    is false, so that nothing is told of it; so is what reads of the request what it is refused for, and what may be
    about any value while one of them is invalid. `resource` None: there is no one row that details may read."""
    which = [] if operation.where is None else [operation.where]
    present = all_of([each.holds for each in requirements if each.scope in (Scope.PATH, Scope.PRESENCE)])
    valid = [
        each.holds for each in requirements if each.scope is Scope.VALUES and each.condition.condition == "invalid"
    ]
    known = all_of([bind(inputs.VALUES_ARE_THERE), *valid])
    columns = []
    gone_before: list[Fragment] = []
    for each in requirements:
        fails = "(" + each.holds + ") IS NOT TRUE"
        read = each.holds.binds if each.scope is Scope.PATH else (*each.holds.binds, *which)
        fails = all_of([*not_refused(frozenset[str]().union(*map(of_request, read))), fails])
        match each.scope:
            case Scope.PATH | Scope.PRESENCE:
                # One cause, one condition: a row that is not there is not also unseen, and nothing behind it is there.
                columns.append("(" + all_of([*gone_before, fails]) + ")")
                gone_before.append(each.holds)
            case Scope.ROW:
                columns.append("(" + all_of([present, fails]) + ")")
            case Scope.VALUES:
                of_any = not each.fields and each.condition.condition != "invalid"
                needed = valid if of_any else []
                columns.append("(" + all_of([present, *_values_there(each.fields), *needed, fails]) + ")")
            case Scope.EITHER:
                assert resource is not None
                there = "(" + column(resource.name, THERE) + " OR " + known + ")"
                columns.append("(" + all_of([present, there, fails]) + ")")
    told = _told(requirements, operation, resource, perspective, known) if resource is not None else []
    columns += ["CASE WHEN " + present + " THEN " + detail + " END" for _, detail in told]
    for value in made:
        asked = all_of([present, *_values_there(()), *value.asked])
        columns.append("(" + asked + " AND " + value.fails + ")")
        if value.is_held:
            columns.append("CASE WHEN " + asked + " THEN " + value.value + " END")
    text = "SELECT " + join(", ", columns or [Fragment("1")]) + " FROM " + source
    if operation.several:
        text = text + ' ORDER BY "$n"'
    results = [ResultColumn(_condition_title(each.condition), Boolean()) for each in requirements]
    results += [ResultColumn(f"detail of {name}", Text(nullable=True)) for name, _ in told]
    for value in made:
        results.append(ResultColumn(f"{value.field} cannot be made", Boolean()))
        results += [ResultColumn(value.field, optional(value.type))] if value.is_held else []
    statement = Statement((Piece(text.text, text.binds),), tuple(results))
    return Judge(
        statement,
        tuple(each.condition for each in requirements),
        tuple(name for name, _ in told),
        tuple(each.anew for each in requirements) if any(each.anew for each in requirements) else (),
    )


def not_refused(parts: Set[str]) -> list[Fragment]:
    """That the request is not refused for what is read of these parts of it."""
    found = [inputs.BODY_IS_REFUSED] if "body" in parts else []
    found += [inputs.PARAMETERS_ARE_REFUSED] if parts - {"body"} else []
    return [bind(each) + " IS NOT TRUE" for each in found]


def _values_there(fields: Sequence[str]) -> list[Fragment]:
    """That what the request gives for some fields can be judged, whatever else is wrong with it."""
    if not fields:
        return [bind(inputs.VALUES_ARE_THERE)]
    return [bind(inputs.BODY_WAS_READ), *(bind(inputs.given_wrongly(field)) + " IS NOT TRUE" for field in fields)]


def _condition_title(condition: Condition) -> str:
    return " ".join(filter(None, (condition.condition, condition.subject, condition.code)))


def _if_seen(seen: Fragment | None, detail: Fragment) -> Fragment:
    return detail if seen is None else "CASE WHEN " + seen + " THEN " + detail + " END"


def _told(
    requirements: Sequence[Requirement],
    operation: Operation,
    resource: Resource,
    perspective: Perspective,
    known: Fragment,
) -> list[tuple[str, Fragment]]:
    """What the codes say of a row that is not written: it is as it was; before one that would be made there was none.
    Of the row that is there, so do those of what is found before it is judged. `known`: that all that one would be made
    of is valid, without which nobody knows it."""
    made = details(requirements, operation, resource, perspective) if operation.kind.makes else []
    made = [(name, "CASE WHEN " + known + " THEN " + detail + " END") for name, detail in made]
    if operation.kind.makes and not operation.kind.may_make:
        return made
    was = details(requirements, operation, resource, perspective, unwritten, before=True)
    if not operation.kind.makes:
        return was
    there, new = column(resource.name, THERE), dict(made)
    return [(name, "CASE WHEN " + there + " THEN " + old + _else(new.get(name)) + " END") for name, old in was]


def _else(otherwise: Fragment | None) -> Fragment:
    return Fragment("") if otherwise is None else " ELSE " + otherwise


_BEFORE: Final = {
    each.name
    for each in CONDITIONS
    if each.of_row and (min(each.steps, default=Step.JUDGED) < Step.JUDGED or each.facts)
}
"""The conditions of a row that something else may find before it is judged: a step, or what a fact of the endpoint asks
for."""


def _as_it_is(typed: Typed) -> Typed:
    return typed


def details(
    requirements: Sequence[Requirement],
    operation: Operation,
    resource: Resource,
    perspective: Perspective,
    as_row: Callable[[Typed], Typed] = _as_it_is,
    before: bool = False,
    if_seen: bool = False,
) -> list[tuple[str, Fragment]]:
    """What the codes say of the row that these requirements can end in: each by its name in a plan, and as text.
    `as_row`: how `before.R` is read; as it was before the row was written, if it is not said. `before`: the request may
    end in what is found before them, too. `if_seen`: it need not be a row that the caller sees, and of no other is
    anything told; so it is wherever who is told is not at work."""
    errors = perspective.checked.errors
    reachable = set()
    for requirement in requirements:
        condition = requirement.condition
        called = names(condition.condition, condition.subject)
        reachable |= {condition.code}
        reachable |= {codes.get(name) for codes in (operation.errors, errors.conditions) for name in called}
    if before:
        stated = {**errors.conditions, **operation.errors}
        reachable |= {code for name, code in stated.items() if (of := split(name)) and of[0] in _BEFORE}
    teller, seen = perspective.teller, None
    if if_seen or perspective.told is not None:
        seen = teller.present(resource.name, resource.name)
    return [
        (said_by(code.name, name), _if_seen(seen, teller.shown(as_row(said), {resource.name: resource.name})))
        for code in errors.codes
        if code.name in reachable and code.resource == resource.name
        for name, said in code.computed.items()
        if resource.name in rows_read(said)
    ]
