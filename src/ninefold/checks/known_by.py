"""`ensure` and `remove`: the fields by which the row that is meant is known."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ninefold.checked.operations import BodyLeaf, PathName, Segment
from ninefold.checked.resources import Field, Resource
from ninefold.checks.codes import NO_ROW, NOT_THE_CLIENTS
from ninefold.checks.findings import Findings
from ninefold.checks.paths import is_one_row
from ninefold.contract import endpoints as stated
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.expressions.tree import Call, Typed, free_variables, walk


def known_by(
    endpoint: stated.Endpoint,
    verb: str,
    resource: Resource,
    segments: Sequence[Segment],
    body: Sequence[BodyLeaf],
    sets: Mapping[str, Typed],
    findings: Findings,
) -> tuple[str, ...] | None:
    """The first of the identifier, the unique fields and the lists of them whose values are all at hand: those of the
    path, those that the body or `sets` give, and those that the contract makes of the caller. One that the path names
    a field of comes before one that it does not. `()`: `row` or `where` says which row; None: nothing does, and that
    has been said."""
    names = [segment for segment in segments if isinstance(segment, PathName)]
    in_path = {(*name.through, name.field)[0] for name in names}
    for name in names:
        field = resource.fields[(*name.through, name.field)[0]]
        numbered = field.serial and not name.through
        if verb == "ensure" and (numbered or (resource.machine is not None and resource.machine.field == field.name)):
            findings.say(
                NOT_THE_CLIENTS,
                f"`{resource.name}.{field.name}` "
                + (
                    "is a number that the service gives"
                    if numbered
                    else "is the state, which moves by transitions alone"
                ),
                Label(endpoint.span, "no client can set it"),
            )
            return None
    if verb == "remove" and endpoint.row is not None:
        return ()
    given: set[str] = set()
    if verb == "ensure":
        given = {leaf.field for leaf in body} | {name for name, made in sets.items() if not _is_new_each_time(made)}
    at_hand = in_path | {
        name
        for name, field in resource.fields.items()
        if field.secret is None and (name in given or _made_of_the_request(field, resource, given | in_path, verb))
    }
    groups: list[tuple[str, ...]] = [resource.identifier]
    groups += [(field.name,) for field in resource.fields.values() if field.unique]
    groups += resource.unique
    whole = [group for group in dict.fromkeys(groups) if at_hand.issuperset(group)]
    whole.sort(key=lambda group: in_path.isdisjoint(group))
    if whole and not (in_path and in_path.isdisjoint(whole[0])):
        return whole[0]
    if verb == "remove" and is_one_row(endpoint, names, resource):
        return ()
    clients = (group for group in groups if not any(resource.fields[name].serial for name in group))
    key = " and ".join(f"`{name}`" for name in next(clients, resource.identifier))
    findings.say(
        NO_ROW,
        f"`{endpoint.key}` does not say which `{resource.name}`",
        Label(endpoint.span, "is known by no field of the request"),
        help=(
            f"a `{resource.name}` is known by {key}: name it in the path"
            + (", or give it in the body" if verb == "ensure" else ""),
        ),
    )
    return None


def _made_of_the_request(field: Field, resource: Resource, given: Collection[str], verb: str) -> bool:
    """Whether the contract gives the field the same value each time that the same caller asks for the same."""
    made = field.on_create
    if made is None or field.serial or field.name in given:
        return False
    return not _is_new_each_time(made) and (verb == "ensure" or resource.name not in free_variables(made))


def _is_new_each_time(made: Typed) -> bool:
    at_random = any(isinstance(node, Call) and node.function in NEW_EACH_TIME for node in walk(made))
    return at_random or "now" in free_variables(made)
