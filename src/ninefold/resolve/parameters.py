"""Part 4: what requests give beside bodies: parameters, headers, and values of the path."""

from __future__ import annotations

from ninefold.contract.endpoints import Parameter
from ninefold.language import leaves, shapes
from ninefold.language.fact import Name
from ninefold.language.reading import Reading, Slot
from ninefold.language.schemas import Schema, is_a_name, schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Sequence

_OF_A_PATH = "ENDPOINT.path.NAME"

_IN_ITS_SCHEMA = "which are required is said in the schema of each: `{0}: {{type: string, required: true}}`"
_ALL_OF_A_PATH = "leave it out: a request gives everything that its path names"


def parameters(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
    return _parameters(r, node, slot, "ENDPOINT.query.PARAMETER", "parameters")


def path_parameters(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
    return _parameters(r, node, slot, _OF_A_PATH, "names of the path")


def _parameters(r: Reading, node: Node, slot: Slot, under: str, among: str) -> tuple[Parameter, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    required = _ALL_OF_A_PATH if under == _OF_A_PATH else _IN_ITS_SCHEMA
    named = (entry for entry in entries if is_a_name(r, entry, among, required))
    return tuple(found for entry in named if (found := parameter(r, entry, under)) is not None)


def header_parameters(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
    found = _parameters(r, node, slot, "ENDPOINT.query.PARAMETER", "headers")
    for each in found or ():
        leaves.is_header(r, Name(each.name, each.span))
    return found


def parameter(r: Reading, entry: Entry, under: str) -> Parameter | None:
    """A schema, with `otherwise` beside it and, where a request may leave it out, `required` as a truth value."""
    shape = Slot(entry.name, shapes.JSONSchema())
    if not isinstance(entry.value, Mapping):
        r.wrong_shape(entry.value, shape)
        return None
    if under == _OF_A_PATH and (told := entry.value.get("required")) is not None:
        r.unknown(told.key, entry.name, (), (_ALL_OF_A_PATH,))
    of_its_own = ("otherwise",) if under == _OF_A_PATH else ("required", "otherwise")
    own = Mapping(entry.value.span, tuple(each for each in entry.value.entries if each.name in of_its_own))
    others = (each for each in entry.value.entries if each.name not in ("required", "otherwise"))
    keywords = Mapping(entry.value.span, tuple(others))
    level = r.level(own, 4, under, entry.name)
    found: Schema | None = schema(r, keywords, shape)
    if found is None:
        return None
    return Parameter(
        name=entry.name,
        span=entry.key.span,
        schema=found,
        otherwise=level.inner("otherwise", leaves.name),
        required=level.inner("required", _is_required) or False,
    )


def _is_required(r: Reading, node: Node, slot: Slot) -> bool | None:
    if isinstance(node, Sequence):
        r.wrong_shape(node, slot, ("of one parameter: `required: true`",))
        return None
    return leaves.boolean(r, node, slot)
