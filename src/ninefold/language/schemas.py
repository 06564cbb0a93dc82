"""JSON Schema (draft 2020-12) as a contract writes it: each keyword checked where it stands, nothing fetched."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import KEYWORD_NOT_USED, NOT_A_SCHEMA, WRONG_SHAPE, WRONG_WORD
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.language.fact import Name
from ninefold.language.hardly_meant import matched_slowly, names_matched_slowly, of_another_type
from ninefold.language.json_schema import FORMATS, KEYS, KEYWORDS, REFUSED, TYPES
from ninefold.language.leaves import wrong_word
from ninefold.language.reading import Reading, Refused, Slot, quoted, shortened
from ninefold.language.shapes import SHARED_TYPE, JSONSchema, ListOf, Shape
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from ninefold.values.keywords import BY_NAME

NOT_USED: Final[Refused] = MappingProxyType(REFUSED)
TYPE_REFERENCE: Final = regex.compile(r"#/types/([A-Za-z_][A-Za-z0-9_]*)")

_KEYS: Final = {key.name: key for key in KEYS}
"""The keywords of a schema, by their names."""


_OTHER_TYPES: Final = {
    **dict.fromkeys(("text", "str", "varchar", "char"), "string"),
    **dict.fromkeys(("int", "int32", "int64", "long", "bigint", "whole number"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "real", "numeric"), "number"),
    **dict.fromkeys(("bool", "flag"), "boolean"),
    **dict.fromkeys(("list", "set", "tuple"), "array"),
    **dict.fromkeys(("dict", "map", "mapping", "struct", "json"), "object"),
}
_TYPES_WITH_A_FORMAT: Final = {
    **dict.fromkeys(("datetime", "date-time", "timestamp"), "date-time"),
    **dict.fromkeys(("date", "time", "duration", "uuid", "email", "uri"), ""),
}


OF_A_RESOURCE: Final = "a field refers to one by `references: {0}`; elsewhere stands a schema of its primary key"
"""What to write for a `$ref` to a resource, where a schema is meant."""

BODY_OF_A_RESOURCE: Final = "a body lists fields of `{0}`: `[NAME, …]`"
"""What to write for it, where a body is meant."""

_WHOLE_NUMBER = regex.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema (2020-12) without ninefold's annotations. `json` is its value, `node` its places."""

    json: dict[str, Any]
    node: Mapping


class _Unread(Exception):
    """A keyword whose value is not right; a diagnostic has been given."""


def schema(r: Reading, node: Node, slot: Slot) -> Schema | None:
    """A schema: a mapping of keywords."""
    if not isinstance(node, Mapping):
        r.wrong_shape(node, Slot(slot.called, JSONSchema()))
        return None
    return Schema(_object(r, node), node)


def is_a_name(r: Reading, entry: Entry, among: str, required: str) -> bool:
    """Whether an entry where names stand, each with its schema, has one; a keyword of JSON Schema is told that it has
    not. `among`: what is named there. `required`: where it is said which of them are required."""
    value = entry.value
    is_schema = isinstance(value, Mapping) and not _has_only_schemas(entry)
    says_type = isinstance(value, Scalar) and value.text in TYPES and entry.name != "type"
    says_none = isinstance(value, Scalar) and (value.text == "" or value.says("none") or value.says("not shown"))
    if entry.name not in KEYWORDS or is_schema or says_type or says_none:
        return True
    help = required.format(_first_of(value))
    if entry.name != "required":
        help = f"each of the {among} has a schema of its own: `NAME: {{type: string}}`"
    message = f"`{entry.name}` is a keyword of JSON Schema, and {among} stand here"
    r.say(WRONG_SHAPE, message, Label(entry.key.span), help=(help,))
    return False


def _has_only_schemas(entry: Entry) -> bool:
    """Whether it is `properties`, with what these are."""
    if entry.name not in BY_NAME or not isinstance(entry.value, Mapping) or not entry.value.entries:
        return False
    return all(isinstance(each.value, Mapping) and each.name not in KEYWORDS for each in entry.value.entries)


def _first_of(node: Node) -> str:
    first = node.items[0] if isinstance(node, Sequence) and node.items else None
    return first.text if isinstance(first, Scalar) and len(first.text) < 40 and "{" not in first.text else "NAME"


BESIDE: Final = "which are required stands beside `fields`: `required: [{0}]`"
BESIDE_PROPERTIES: Final = BESIDE.replace("fields", "properties")


def only_keywords(node: Mapping) -> Mapping:
    """A field's mapping without what is ninefold's own."""
    return Mapping(node.span, tuple(entry for entry in node.entries if entry.name in KEYWORDS))


def json_value(r: Reading, node: Node, slot: Slot) -> Any:
    """Any JSON value, as Python has it. Raises nothing; what cannot be JSON is said, and is `None`."""
    try:
        return _json(r, node, slot.called)
    except _Unread:
        return None


def _object(r: Reading, node: Mapping) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in node.entries:
        if entry.name in NOT_USED:
            r.say(
                KEYWORD_NOT_USED,
                f"{quoted(entry.name)} is not part of the language",
                Label(entry.key.span),
                help=(NOT_USED[entry.name],),
            )
        elif entry.name not in KEYWORDS:
            _unknown(r, entry.key)
        elif r.is_no_answer(_KEYS.get(entry.name), entry.value):
            continue
        elif r.states(entry.value, entry.proposed):
            try:
                found[entry.name] = _value(r, entry)
            except _Unread:
                pass
    matched_slowly(r, node, found)
    of_another_type(r, node, found)
    return found


def is_unknown(r: Reading, name: str) -> bool:
    """Whether nothing is known of a key beside those of a schema: no keyword of others, nor what is said of a field."""
    return name not in KEYWORDS and name not in NOT_USED and name not in _of_fields(r)


def _of_fields(r: Reading) -> set[str]:
    return {each.name for each in r.keys_under(2, "RESOURCE.fields.FIELD")}


def _unknown(r: Reading, key: Scalar) -> None:
    help = (f"`{key.text}` is said of a field, not of a schema inside one",) if key.text in _of_fields(r) else ()
    r.unknown(key, "a schema", tuple(_KEYS), help)


def _value(r: Reading, entry: Entry) -> Any:
    node, called = entry.value, entry.name
    key = _KEYS.get(called)
    shape: Shape | None = None if key is None else key.shape
    match called:
        case "type":
            return _types(r, node)
        case "format":
            return _format(r, node)
        case "$ref":
            return _reference(r, node)
        case "pattern":
            value = _checked(r, called, _json(r, node, called), node)
            _compiles(r, value, node)
            return value
    if called in BY_NAME:
        return _named(r, node, called)
    if called == "required" and isinstance(node, Mapping) and key is not None:
        r.wrong_shape(node, Slot(called, key.shape))
        raise _Unread
    if shape == JSONSchema():
        return _schema(r, node, called)
    if shape == ListOf(JSONSchema()):
        items = r.items(node, Slot(called, ListOf(JSONSchema())))
        if not items:
            if items is not None:
                r.say(NOT_A_SCHEMA, f"`{called}` has no schema", Label(node.span))
            raise _Unread
        if isinstance(node, Sequence) and len(items) < len(node.items):
            raise _Unread  # what states nothing is told of: a list without it would say something else
        return [_schema(r, item, called) for item in items]
    return _checked(r, called, _json(r, node, called), node)


def _schema(r: Reading, node: Node, called: str) -> Any:
    """A schema inside a schema: a mapping, or a truth value."""
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    if not isinstance(node, Mapping):
        r.wrong_shape(node, Slot(called, JSONSchema()))
        raise _Unread
    return _object(r, node)


def _named(r: Reading, node: Node, called: str) -> dict[str, Any]:
    entries = r.entries(node, Slot(called, _KEYS[called].shape))
    if entries is None:
        raise _Unread
    if called == "patternProperties":
        for entry in entries:
            _compiles(r, entry.name, entry.key)
            names_matched_slowly(r, entry)
    if called == "properties":
        entries = tuple(each for each in entries if is_a_name(r, each, "members", BESIDE_PROPERTIES))
    return {entry.name: _schema(r, entry.value, entry.name) for entry in entries}


def _types(r: Reading, node: Node) -> Any:
    if isinstance(node, Sequence):
        types = [_type(r, item) for item in r.items(node, Slot("type", JSONSchema())) or ()]
        return _checked(r, "type", types, node)
    return _type(r, node)


def _type(r: Reading, node: Node) -> str:
    if isinstance(node, Scalar) and node.value is None and node.text == "null":
        r.say(
            NOT_A_SCHEMA,
            "`null` without quotes is no text, and a type is text",
            Label(node.span),
            help=('write `"null"`',),
        )
        raise _Unread
    if not isinstance(node, Scalar) or node.text == "":
        r.wrong_shape(node, Slot("type", _KEYS["type"].shape))
        raise _Unread
    if node.text in TYPES:
        return node.text
    written = node.text.casefold()
    if (resource := r.written.resource(node.text)) is not None and written not in _OTHER_TYPES:
        message = f"`type` cannot be {quoted(node.text)}, which is a resource"
        r.say(WRONG_WORD, message, Label(node.span), help=(OF_A_RESOURCE.format(resource),))
        raise _Unread
    if written in _TYPES_WITH_A_FORMAT:
        meant = _TYPES_WITH_A_FORMAT[written] or written
        r.say(
            WRONG_WORD,
            f"`type` cannot be {quoted(node.text)}",
            Label(node.span),
            help=(f"write `type: string, format: {meant}`",),
        )
    else:
        wrong_word(r, node, "type", TYPES, _OTHER_TYPES.get(written))
    raise _Unread


def _format(r: Reading, node: Node) -> str:
    if not isinstance(node, Scalar) or node.text == "":
        r.wrong_shape(node, Slot("format", _KEYS["format"].shape))
        raise _Unread
    if node.text not in FORMATS:
        meant = "date-time" if node.text.casefold() in ("datetime", "timestamp") else None
        wrong_word(r, node, "format", FORMATS, meant)
        raise _Unread
    return node.text


def type_reference(r: Reading, node: Node, of_a_resource: str = OF_A_RESOURCE) -> Name | None:
    """`#/types/NAME`: the name of a shared type. `of_a_resource`: what to write if the name is that of a resource."""
    written = node.text if isinstance(node, Scalar) and node.value is not None else ""
    if (found := TYPE_REFERENCE.fullmatch(written)) is not None:
        return Name(found[1], node.span)
    last = written.replace("#", "/").rpartition("/")[2].removesuffix(".json")
    resource = None if last in _shared(r) else r.written.resource(last) or r.written.resource(last.partition(".")[0])
    if resource is not None:
        r.say(
            NOT_A_SCHEMA,
            f"`$ref` refers to a shared type, and `{resource}` is a resource",
            Label(node.span),
            help=(of_a_resource.format(resource),),
        )
        return None
    if isinstance(node, Scalar) and node.value is None:
        r.wrong_shape(node, Slot("$ref", SHARED_TYPE))
        return None
    if last in TYPES:
        help = f"write `type: {last}`"
    else:
        near = last if last in _shared(r) else r.nearest(last, _shared(r))
        declared = "" if near else "; `types` of part 2 declares it"
        help = f'write `"#/types/{near or (last if last.isidentifier() else "NAME")}"`{declared}'
    r.say(NOT_A_SCHEMA, "`$ref` refers to a shared type alone", Label(node.span), help=(help,))
    return None


def _shared(r: Reading) -> tuple[str, ...]:
    """The names of the shared types."""
    types = r.types.value if r.types is not None else None
    return tuple(each.name for each in types.entries) if isinstance(types, Mapping) else ()


def _reference(r: Reading, node: Node) -> str:
    name = type_reference(r, node)
    if name is None:
        raise _Unread
    if (shared := r.types) is not None:
        r.states(shared.value)
    return f"#/types/{name.text}"


def _checked(r: Reading, called: str, value: Any, node: Node) -> Any:
    """A keyword's value, held against the meta-schema of the draft."""
    fault = _fault(called, value)
    if fault is None:
        return value
    place = _at(node, list(getattr(fault, "instance_path", ()))[1:])
    fact = shortened(str(getattr(fault, "message", fault)), 120)
    message = f"`{called}` is not as JSON Schema says: {fact}"
    r.say(NOT_A_SCHEMA, message, Label(place.span), help=_meant(called, place))
    raise _Unread


def _fault(called: str, value: Any) -> Exception | None:
    try:
        jsonschema_rs.meta.validate({called: value})
    except (jsonschema_rs.ValidationError, ValueError) as error:
        return error
    return None


def _meant(called: str, node: Node) -> tuple[str, ...]:
    """The help where a keyword's value is what many write: `required: true` of a field, a number in quotes."""
    if not isinstance(node, Scalar):
        return ()
    if called == "required" and isinstance(node.value, bool):
        return ("it is a list of names, beside `fields` or beside the `properties` of an object: `required: [NAME]`",)
    if node.style is not Style.PLAIN and _WHOLE_NUMBER.fullmatch(node.text):
        return (f"write it without quotes: `{called}: {node.text}`",)
    return (f"a list has brackets: `{called}: [{node.text}]`",) if _fault(called, [node.value]) is None else ()


def _compiles(r: Reading, pattern: str, node: Node) -> None:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except ValueError:
        r.say(NOT_A_SCHEMA, f"{quoted(pattern)} is not a regular expression", Label(node.span))
        raise _Unread from None


def _at(node: Node, path: list[str | int]) -> Node:
    """The node that a path leads to, or the nearest above it."""
    for step in path:
        if isinstance(node, Mapping) and (entry := node.get(str(step))) is not None:
            node = entry.value
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            break
    return node


def _json(r: Reading, node: Node, called: str) -> Any:
    match node:
        case Mapping():
            slot = Slot(called, JSONSchema())
            return {entry.name: _json(r, entry.value, called) for entry in r.entries(node, slot) or ()}
        case Sequence():
            return [_json(r, item, called) for item in r.items(node, Slot(called, JSONSchema())) or ()]
        case Scalar(value=None, text=""):
            r.wrong_shape(node, Slot(called, JSONSchema()))
            raise _Unread
        case Scalar(value=int() as number) if not -(2**63) <= number < 2**63:
            r.say(NOT_A_SCHEMA, f"{quoted(node.text)} is not a 64-bit integer", Label(node.span))
            raise _Unread
        case Scalar():
            return node.value
