"""Which row an endpoint acts on: by its path and `where`; and the fields by which `put` knows one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.operations import PathName, Segment
from ninefold.checked.resources import Field, Resource
from ninefold.checks.findings import Findings
from ninefold.diagnostics.codes import NO_ROW, NOT_THE_CLIENTS, ONE_ROW, PATH_OF_CREATE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.expressions import ast
from ninefold.expressions.reads import is_new_each_time
from ninefold.expressions.tree import Call, Select, Typed, Variable, free_variables
from ninefold.language import endpoints as stated
from ninefold.language.fact import value_of
from ninefold.language.verbs import Verb
from ninefold.values import Boolean, Row

_OF_THE_ONE_ROW = {
    True: "the row is always there: state `replaced` alone",
    False: "read, update or replace it, or take a transition of it",
}
"""What can be done instead with a row that is always there, by whether it was to be put."""


def check_addressing(
    endpoint: stated.Endpoint, kind: Verb, resource: Resource, segments: tuple[Segment, ...], findings: Findings
) -> None:
    """Whether the path says what the verb needs: one row, or, on create, what the new row refers to."""
    names = [segment for segment in segments if isinstance(segment, PathName)]
    if not resource.primary_key and kind.is_of_many:
        findings.say(
            ONE_ROW,
            f"`{kind.of or kind.name}` has no meaning for `{resource.name}`, of which there is one row",
            Label(endpoint.span, f"{kind.word} the one that is always there"),
            help=(_OF_THE_ONE_ROW[kind.may_make],),
        )
    elif endpoint.of_all_rows:
        if not resource.primary_key:
            findings.say(
                ONE_ROW,
                f"`{resource.name}` has one row, and `{endpoint.key}` acts on all of them",
                Label(endpoint.span, "all rows are the one that is always there"),
                help=("leave `all` out",),
            )
    elif kind.makes or kind.is_of_all:
        for name in names:
            if not name.through and kind.row == "new":
                findings.say(
                    PATH_OF_CREATE,
                    f"`{{{name.text}}}` is a field of the `{resource.name}` that is only being created",
                    Label(endpoint.span, "creates it"),
                    help=(
                        f"a name that leads through a reference sets it; a field of `{resource.name}` goes in the body",
                    ),
                )
            elif (
                not kind.is_of_all
                and len(name.through) > 1
                and not any(other.through == name.through[:1] for other in names if len(other.through) == 1)
            ):
                findings.say(
                    PATH_OF_CREATE,
                    f"`{{{name.text}}}` leads through a reference of `{resource.name}` that nothing sets",
                    Label(endpoint.span),
                )
    elif kind.row in ("none", "known", "found"):
        return
    elif kind.row == "caller's" and not names and endpoint.where is None:
        return
    elif named_by(endpoint, names, resource, findings) is None:
        identifier = " and ".join(f"`{{{each}}}`" for each in resource.primary_key)
        alone = does[:1] if kind.of_all and len(does := value_of(endpoint.does) or ()) == 1 else ()
        of_all = tuple(f"to act on all of which `where` holds: `{replace(each, all=True).written}`" for each in alone)
        findings.say(
            NO_ROW,
            f"`{endpoint.key}` does not say which `{resource.name}`",
            Label(endpoint.span, "may be several rows" if names else "names no row"),
            help=(
                f"put its primary key into the path, as {identifier}, or say it by `where: {resource.name} == …`",
                *of_all,
            ),
        )


def named_by(
    endpoint: stated.Endpoint, names: Sequence[PathName], resource: Resource, findings: Findings
) -> tuple[str, ...] | None:
    """By which fields what the path names, with what `where` holds equal, belongs to one row at most: a unique field,
    or all fields of a primary key or of a `unique` of several; `()`: `where` says that it is another row, or there is
    but one. None: it does not."""
    if not resource.primary_key:
        return ()  # there is one
    where, same = value_of(endpoint.where), findings.survey.graph.same(resource.name)
    return ast.named_by(None if where is None else where.ast, resource.name, resource.keys_of_one, same, in_path(names))


def in_path(names: Sequence[PathName]) -> set[str]:
    """The fields of the row itself that names in the path give. `{item.sku}` names the field `item`, since it is a
    unique field of that."""
    return {(*name.through, name.field)[0] for name in names if len(name.through) <= 1}


def of_one_row(
    where: Typed, endpoint: stated.Endpoint, segments: Sequence[Segment], resource: Resource, findings: Findings
) -> Typed:
    """What says which rows there are; where it says which one, that is a row that has a value in each of the fields by
    which it does, since in these a null is none, equal to no other."""
    names = [segment for segment in segments if isinstance(segment, PathName)]
    key = named_by(endpoint, names, resource, findings)
    if key is None:
        return where
    return findings.stands(with_values(where, set(key) - in_path(names), resource), findings.span(where))


def with_values(condition: Typed, key: Collection[str], resource: Resource) -> Typed:
    """A condition, and that a row has a value in each of these fields."""
    row = Variable(resource.name, Row(resource=resource.name))
    for field in (each for each in resource.fields.values() if each.name in key and each.type.nullable):
        has = Call("has", [Select(row, field.name, field.type, "field")], Boolean())
        condition = Call("&&", [has, condition], Boolean())
    return condition


# ── put, and delete where there may be none ──────────────────────────────────────────────────────────────────────


def known_by(
    endpoint: stated.Endpoint,
    kind: Verb,
    resource: Resource,
    segments: Sequence[Segment],
    body: Sequence[BodyLeaf],
    sets: Mapping[str, Typed],
    findings: Findings,
) -> tuple[str, ...] | None:
    """The first of the primary key, the unique fields and the lists of them whose values are all at hand: those of the
    path, those that the body or `sets` give, and those that the contract makes of the caller. One that the path names
    a field of comes before one that it does not. `()`: `where` says which row, with the path; None: nothing does, and
    that has been said."""
    is_put, is_said = kind.may_make, endpoint.where is not None
    names = [segment for segment in segments if isinstance(segment, PathName)]
    in_path = {(*name.through, name.field)[0] for name in names}
    for name in names:
        field = resource.fields[(*name.through, name.field)[0]]
        if "created" in endpoint.outcomes and ((field.serial and not name.through) or resource.is_state(field.name)):
            message = f"`{resource.name}.{field.name}` {resource.made_otherwise(field, numbers=not name.through)}"
            findings.say(NOT_THE_CLIENTS, message, Label(endpoint.span, "no client can set it"))
            return None
    if is_put and is_said and named_by(endpoint, names, resource, findings) is not None:
        return ()
    given: set[str] = set()
    if kind.may_make:
        given = {leaf.field for leaf in body} | {name for name, made in sets.items() if not is_new_each_time(made)}
    at_hand = in_path | {
        name
        for name, field in resource.fields.items()
        if field.secret is None and (name in given or _made_of_the_request(field, resource, given | in_path, kind))
    }
    whole = [group for group in resource.keys if at_hand.issuperset(group)]
    whole.sort(key=lambda group: in_path.isdisjoint(group))
    if whole and not (is_put and is_said) and not (in_path and in_path.isdisjoint(whole[0])):
        return whole[0]
    if kind.removes and named_by(endpoint, names, resource, findings) is not None:
        return ()
    clients = (group for group in resource.keys if not any(resource.fields[name].serial for name in group))
    key = " and ".join(f"`{name}`" for name in next(clients, resource.primary_key))
    findings.say(
        NO_ROW,
        f"`{endpoint.key}` does not say which `{resource.name}`",
        Label(endpoint.span, "is known by no field of the request"),
        help=(
            f"a `{resource.name}` is known by {key}: name it in the path"
            + (", or give it in the body" if is_put and not is_said else ", or in `where`" if is_put else ""),
        ),
    )
    return None


def _made_of_the_request(field: Field, resource: Resource, given: Collection[str], kind: Verb) -> bool:
    """Whether the contract gives the field the same value each time that the same caller asks for the same."""
    made = field.on_create
    if made is None or field.serial or field.name in given:
        return False
    return not is_new_each_time(made) and (kind.may_make or resource.name not in free_variables(made))
