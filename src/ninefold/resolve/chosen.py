"""Part 4: what a request chooses of a response (`projection`, `expand`)."""

from __future__ import annotations

from ninefold.contract.endpoints import Expanded, Expansion, Projection
from ninefold.language import leaves, shapes
from ninefold.language.expressions import template
from ninefold.language.reading import Reading, Slot
from ninefold.syntax.nodes import Mapping, Node, Sequence


def projection(r: Reading, node: Node, slot: Slot) -> Projection | None:
    level = r.level(node, 4, "ENDPOINT.projection", "projection")
    if not isinstance(node, Mapping):
        return None
    return Projection(
        parameter=level.fact("parameter", leaves.name),
        offered=level.fact("offered", leaves.names),
        always=level.fact("always", leaves.names),
        written=level.fact("written", written),
    )


def expansion(r: Reading, node: Node, slot: Slot) -> Expansion | None:
    level = r.level(node, 4, "ENDPOINT.expand", "expand")
    if not isinstance(node, Mapping):
        return None
    return Expansion(
        parameter=level.fact("parameter", leaves.name),
        offered=level.fact("offered", offered),
        written=level.fact("written", written),
    )


def offered(r: Reading, node: Node, slot: Slot) -> tuple[Expanded, ...] | None:
    """References by their names, shown as whole rows; or names, each with what is shown."""
    if isinstance(node, Sequence):
        names = leaves.names(r, node, slot)
        return None if names is None else tuple(Expanded(each.text, each.text, each.span, None) for each in names)
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        shows = template(r, entry.value, Slot(entry.name, shapes.Template()))
        if shows is not None:
            found.append(Expanded(entry.name, entry.name, entry.key.span, shows))
    return tuple(found)


def written(r: Reading, node: Node, slot: Slot) -> str | None:
    found = leaves.word(r, node, slot)
    return None if found is None else found.text
