"""What has to hold for an operation, each with the condition that it fails with.

The same requirements become the WHERE of the statement and the columns of the judge, so that a write is guarded
by its own text, and the answer to "why not?" cannot say anything that the statement did not ask.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

from ninefold.checked.endpoints import Admission
from ninefold.checked.lists import by_way, ways
from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.resources import Field, Guard, Resource, Transition
from ninefold.compile import inputs
from ninefold.compile.perspective import CONTRACT, OPERATOR, Perspective
from ninefold.compile.which_rows import WANTED, is_said_by_another, named_on_the_way, on_the_way
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.place import Place as PlanPlace
from ninefold.expressions.tree import Select, Typed, Variable, free_variables, walk
from ninefold.language.conditions import subject_of
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.problems import Condition, Location, location
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Text
from ninefold.values.pointers import tokens


class Scope(Enum):
    """What a requirement is about: a row that the path names on its way, the row acted on being there and being
    seen, that row, the values that are to be stored, or either of the last two: the row where it is there (its column
    `$there` says so), else the values."""

    PATH = "path"
    PRESENCE = "presence"
    ROW = "row"
    VALUES = "values"
    EITHER = "either"


THERE = "$there"
"""The column of a source that says whether its row is there, or would be stored."""


@dataclass(frozen=True)
class Requirement:
    """`fields`: of VALUES, the fields whose values alone it is about; empty where it may be about any. `anew`: those
    among them that are made at random, with other values each time. `constrained`: a constraint of the table refuses
    every row that this refuses. `distinct`: of what is unique, the values that no two rows may have."""

    condition: Condition
    holds: Fragment
    scope: Scope
    fields: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()
    constrained: bool = False
    distinct: tuple[Fragment, ...] = ()


def of_way(typed: Typed, which: Condition, operation: Operation, perspective: Perspective) -> Requirement:
    """A condition that reads rows which the path leads through, and no row behind them."""
    rows, source = on_the_way([typed], operation, perspective)
    holds = perspective.holds(typed, rows)
    return Requirement(which, "(SELECT " + holds + " FROM " + source + ")" if rows else holds, Scope.ROW)


def parents(operation: Operation, perspective: Perspective) -> list[Requirement]:
    """The rows that the path names on its way to the row acted on, from the left: each must be there and seen,
    and belong to those before it."""
    found = []
    for index, name in enumerate(operation.names):
        if not name.through or is_said_by_another(operation, index):
            continue
        alias, tests = named_on_the_way(operation, index, perspective)
        rows = f"EXISTS (SELECT 1 FROM {identifier(name.resource)} AS {identifier(alias)} WHERE "
        there = rows + all_of(tests) + ")"
        seen = perspective.visible(name.resource, alias)
        there_and_seen = there if seen is None else rows + all_of([*tests, "(" + seen + ")"]) + ")"
        named, unseen = (operation.place,), perspective.rule(name.resource)
        missing = Condition("not found", subject=name.resource, trace=named)
        if seen is None or perspective.checked.unseen_rows == "not found":
            either = Condition("not found", subject=name.resource, trace=(*named, *unseen))
            found.append(Requirement(either, there_and_seen, Scope.PATH))
        else:
            found.append(Requirement(missing, there, Scope.PATH))
            forbidden = Condition("forbidden", subject=name.resource, trace=unseen)
            found.append(Requirement(forbidden, "(NOT " + there + " OR " + there_and_seen + ")", Scope.PATH))
        not_gone = perspective.there(name.resource, alias)
        if not_gone is not None:
            still = rows + all_of([*tests, *(() if seen is None else ("(" + seen + ")",)), not_gone]) + ")"
            gone = Condition("gone", subject=name.resource, trace=(*named, *_of_gone(name.resource, perspective)))
            found.append(Requirement(gone, "(NOT " + there_and_seen + " OR " + still + ")", Scope.PATH))
    return found


def presence(operation: Operation, resource: Resource, perspective: Perspective) -> list[Requirement]:
    """The row acted on is there, and this caller sees it. The only row that there is, is there always."""
    is_there = not (resource.primary_key or operation.names or operation.where)
    always = resource.primary_key[0] if resource.primary_key else REVISION_COLUMN
    there = column(resource.name, always) + " IS NOT NULL"
    places, own = perspective.checked.places, ("endpoints", operation.key)
    named = (operation.place, *places.at(*own, "row"), *places.at(*own, "where"))
    missing = Condition("not found", subject=resource.name, trace=named)
    seen = perspective.visible(resource.name, resource.name)
    required = [] if is_there else [Requirement(missing, there, Scope.PRESENCE)]
    if seen is None:
        return required
    unseen = perspective.rule(resource.name)
    if perspective.checked.unseen_rows == "not found":
        either = Condition("not found", subject=resource.name, trace=(*missing.trace, *unseen))
        return [Requirement(either, "(" + there + " AND (" + seen + "))", Scope.PRESENCE)]
    forbidden = Condition("forbidden", subject=resource.name, trace=unseen)
    return [*required, Requirement(forbidden, "(" + there + " AND (" + seen + "))", Scope.PRESENCE)]


def still_there(
    operation: Operation, resource: Resource, perspective: Perspective, besides: Collection[str] = ()
) -> list[Requirement]:
    """The row acted on is not in a state of `gone`. `besides`: states from which the endpoint brings it back."""
    there = perspective.there(resource.name, resource.name, besides)
    if there is None:
        return []
    trace = (operation.place, *_of_gone(resource.name, perspective))
    return [Requirement(Condition("gone", subject=resource.name, trace=trace), there, Scope.ROW)]


def _of_gone(resource: str, perspective: Perspective) -> tuple[PlanPlace, ...]:
    return perspective.checked.places.at("states", resource, "gone")


def permission(
    admission: Admission, resource: Resource, perspective: Perspective, scope: Scope = Scope.ROW
) -> list[Requirement]:
    """A condition of part 5 that reads the row; at any other scope than `ROW` it is one that may be new."""
    if admission.condition is None or admission.of_request:
        return []
    new = None if scope is Scope.ROW else resource
    holds = perspective.holds(admission.condition, {resource.name: resource.name}, new)
    condition = Condition("forbidden", subject=resource.name, trace=(admission.place,))
    return [Requirement(condition, holds, scope)]


def permission_by_way(
    admission: Admission, operation: Operation, resource: Resource, perspective: Perspective
) -> list[Requirement]:
    """One that reads no more of the row than what the path leads through: it is asked whatever the row is to become,
    and where there is none. Nothing, where it reads more."""
    if admission.condition is None or admission.of_request:
        return []
    found = by_way(admission.condition, resource.name, ways(operation.segments, perspective.checked.resources))
    if resource.name in free_variables(found):
        return []
    condition = Condition("forbidden", subject=resource.name, trace=(admission.place,))
    return [of_way(found, condition, operation, perspective)]


def guard(stated: Guard, resource: Resource, perspective: Perspective, scope: Scope = Scope.ROW) -> Requirement:
    """What reads the body is judged once all of that is there. At any other scope than `ROW` the row may be new."""
    new = None if scope is Scope.ROW else resource
    if any(isinstance(node, Select) and _is_body(node) for node in walk(stated.that)):
        scope = Scope.VALUES
    holds = perspective.holds(stated.that, {resource.name: resource.name}, new)
    return Requirement(Condition("check", resource.name, code=stated.code, trace=(stated.place,)), holds, scope)


def _is_body(node: Select) -> bool:
    return node.name == "body" and isinstance(node.operand, Variable) and node.operand.name == "request"


def unchanged(resource: Resource, place: Place, perspective: Perspective) -> Requirement:
    """The row is still one of the revisions that If-Match names, and none of those of If-None-Match."""
    alias, dialect, revision = (
        identifier("wanted revision"),
        perspective.dialect,
        column(resource.name, REVISION_COLUMN),
    )

    def asked(named: Typed, word: str) -> Fragment:
        revisions = "(SELECT " + dialect.item(alias, Text()) + " FROM " + dialect.items(bind(named), alias) + ")"
        return "(" + bind(named) + " IS NULL OR " + revision + word + revisions + ")"

    holds = "(" + asked(inputs.MATCH, " IN ") + " AND " + asked(inputs.OTHERS, " NOT IN ") + ")"
    return Requirement(Condition("precondition failed", subject=resource.name, trace=(place,)), holds, Scope.ROW)


def of_conditions(operation: Mutation, resource: Resource, perspective: Perspective) -> list[Requirement]:
    """What a request may ask of the entity tag of the row that it writes. A row without one has none that could be
    named: which revisions there may be (`$if`) is said only where none will do."""
    asked = unchanged(resource, operation.place, perspective)
    if operation.validator:
        return [asked]
    is_of_request = operation.host is None and perspective.who not in (CONTRACT, OPERATOR)
    untagged = replace(asked, holds="(" + bind(inputs.MATCH) + " IS NULL)")
    return [untagged] if is_of_request and not operation.several else []


def in_state(resource: Resource, origins: Sequence[Typed], field: str, transition: Transition) -> Requirement:
    holds = column(resource.name, field) + " IN (" + join(", ", [bind(each) for each in origins]) + ")"
    subject = subject_of("illegal transition", resource=resource.name, transition=transition.name)
    condition = Condition("illegal transition", subject=subject, trace=(transition.place,))
    return Requirement(condition, holds, Scope.ROW)


def reference_seen(
    field: Field, value: Fragment, at: Location, or_made: bool, resource: Resource, perspective: Perspective
) -> Requirement:
    """A reference that the client gives, of this `value`, points at a row that the client sees. `or_made`: where it
    does not, the contract does."""
    holds = _points_at_a_row(field, value, perspective, is_seen=True)
    if or_made:
        holds = bind(inputs.is_given(field.name)) + " IS NOT TRUE OR " + holds
    # A value of the path is told of as one that breaks its schema is: without its field.
    subject = subject_of("invalid", resource=resource.name, field=field.name) if at.place == "body" else None
    trace = _of_rule(field, "references")
    condition = Condition("invalid", subject=subject, location=at, rule="references", trace=trace)
    constrained = _is_constrained(field, resource, perspective) and _seen(field, perspective) is None
    return Requirement(condition, "(" + holds + ")", Scope.VALUES, (field.name,), constrained=constrained)


def reference_there(
    field: Field, value: Fragment, unless_given: bool, resource: Resource, perspective: Perspective
) -> Requirement:
    """A reference that the contract gives, of this `value`, points at a row, by the contract's own authority.
    `unless_given`: where the client does not give it."""
    holds = _points_at_a_row(field, value, perspective, is_seen=False)
    if unless_given:
        holds = bind(inputs.is_given(field.name)) + " IS TRUE OR " + holds
    subject = subject_of("conflict", resource=resource.name, field=field.name)
    condition = Condition("conflict", subject=subject, trace=_of_rule(field, "references"))
    constrained = _is_constrained(field, resource, perspective)
    return Requirement(condition, "(" + holds + ")", Scope.VALUES, (field.name,), constrained=constrained)


def _is_constrained(field: Field, resource: Resource, perspective: Perspective) -> bool:
    """Whether the foreign key refuses what points at no row. It is looked at once the new row is there, which may so
    point at itself."""
    assert field.references is not None
    return field.references != resource.name and not perspective.checked.resources[field.references].log


def _seen(field: Field, perspective: Perspective) -> Fragment | None:
    assert field.references is not None
    return perspective.teller.present(field.references, f"target {field.name}")


def _points_at_a_row(field: Field, value: Fragment, perspective: Perspective, is_seen: bool) -> Fragment:
    target = perspective.checked.resources[field.references or ""]
    alias = f"target {field.name}"
    tests = [column(alias, target.primary_key[0]) + " = " + value]
    seen = _seen(field, perspective) if is_seen else None
    tests += [] if seen is None else ["(" + seen + ")"]
    exists = f"EXISTS (SELECT 1 FROM {identifier(target.name)} AS {identifier(alias)} WHERE " + all_of(tests) + ")"
    return value + " IS NULL OR " + exists


def has_value(
    field: Field, value: Fragment, fails: Fragment, resource: Resource, given: str | None = None
) -> Requirement:
    """A value that the database makes as it writes is there, where the field is not to be without one. Where it
    `fails`, that is told. `given`: where a body may give it (meaning "who gives a value")."""
    condition = Condition(
        "invalid",
        subject=subject_of("invalid", resource=resource.name, field=field.name),
        location=None if given is None else in_body(given),
        rule=None if given is None else "required",
        trace=_of_rule(field, "required"),
    )
    return Requirement(condition, "((" + value + ") IS NOT NULL OR (" + fails + ") IS TRUE)", Scope.VALUES)


def _of_rule(field: Field, keyword: str) -> tuple[PlanPlace, ...]:
    """Where a rule of a field stands, the field itself first."""
    return (field.place, *(each.place for each in field.rules if each.keyword == keyword and not each.path))


def _together(fields: Sequence[Field], resource: Resource, perspective: Perspective) -> tuple[PlanPlace, ...]:
    """Where it is stated that fields are unique together, or that rows are known by them."""
    names, places = tuple(field.name for field in fields), perspective.checked.places
    found = [
        place
        for number, group in enumerate(resource.unique)
        if group == names
        for place in places.at("resources", resource.name, "unique", str(number))
    ]
    return (
        *found,
        *(places.at("resources", resource.name, "primary key") if names == resource.primary_key else ()),
    )


def in_path(name: str) -> Location:
    """A value of the path, by its name there."""
    return location("path", (name,))


def in_body(at: str) -> Location:
    """A place in the body, called as the client calls it."""
    return location("body", tokens(at))


def unique(
    fields: Sequence[Field],
    pointers: dict[str, str],
    resource: Resource,
    perspective: Perspective,
    on_update: bool,
    computed: Mapping[str, Fragment],
) -> Requirement:
    """No other row has these values. Nulls are distinct. `computed`: values that the database makes as it writes."""
    alias, values = "other row", list[Fragment]()
    for field in fields:
        # On create the row as it would be has them all, also those that the path gives.
        value = column(resource.name, field.name)
        if field.name in computed:
            value = computed[field.name]
        elif on_update:
            given = bind(inputs.new_value(field.name, field.type))
            value = "COALESCE(" + given + ", " + value + ")" if len(fields) > 1 else given
        values.append(value)
    tests = [column(alias, field.name) + " = " + value for field, value in zip(fields, values, strict=True)]
    if on_update:
        same = [column(alias, key) + " = " + column(resource.name, key) for key in resource.primary_key]
        tests.append("NOT (" + all_of(same) + ")")
    name = identifier(resource.name)
    holds = f"NOT EXISTS (SELECT 1 FROM {name} AS {identifier(alias)} WHERE " + all_of(tests) + ")"
    first = next((field for field in fields if field.name in pointers), fields[0])
    locations = tuple(in_body(pointers[each.name]) for each in fields if each.name in pointers)
    condition = Condition(
        "conflict",
        subject=subject_of("conflict", resource=resource.name, field=first.name if len(fields) == 1 else None),
        location=locations[0] if locations else None,
        rule="unique",
        trace=(*_of_rule(first, "unique"), *_together(fields, resource, perspective)),
        others=locations[1:],
    )
    names = tuple(field.name for field in fields)
    return Requirement(condition, holds, Scope.VALUES, names, constrained=not on_update, distinct=tuple(values))


def distinct_as_they_become(required: Sequence[Requirement], operation: Operation) -> list[Requirement]:
    """What is required of a row; where several change together, with that no second one is to have the same values.
    Nulls are distinct. It is asked of all of them beforehand, by a select."""
    found, position = [*required], f'{WANTED}."$n"'
    for each in required if operation.several else ():
        if each.distinct:
            first = f"MIN({position}) OVER (PARTITION BY " + join(", ", each.distinct) + f") = {position}"
            lacks = [value + " IS NULL" for value in each.distinct]
            found.append(replace(each, holds="(" + join(" OR ", [*lacks, first]) + ")"))
    return found
