"""Part 4: what a request gives by name, in its path, its query and its headers; and what its query does.

A parameter has a schema. In the query it may do one thing more: narrow the rows (`where`), order them (`sorts`), say
which members are shown (`selects`), which references are shown as rows (`expands`), or turn the order of the rows
round (`reverses`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.declaration import OfVerbs, When, adds, asked, members, named, restricts
from ninefold.language.expressions import Expression, Template, expression, template
from ninefold.language.fact import Fact, Name, value_of
from ninefold.language.json_schema import KEYS, TYPES, TYPING, keywords
from ninefold.language.key import Key, Kind
from ninefold.language.orders import KEY, Offered, read_offered
from ninefold.language.reading import Read, Reading, Slot, TableOfKeys
from ninefold.language.records import read_members
from ninefold.language.requests import DOES, NOT_SERVED
from ninefold.language.schemas import Schema, is_a_name, is_unknown, json_value, schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence

# What a parameter of the query does

JSON: Final = "application/json"


def in_backticks(names: Iterable[Name]) -> str:
    return ", ".join(f"`{each.text}`" for each in names)


@dataclass(frozen=True, slots=True)
class Expanded:
    """Something that is shown on request: `name` is how it is asked for, and the member. `field`: the reference, or the
    rows that refer back. `shows` None: the whole row of each."""

    name: str
    field: str
    span: Span
    shows: Template | None


def read_expanded(r: Reading, node: Node, slot: Slot) -> tuple[Expanded, ...] | None:
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


def _is_required(r: Reading, node: Node, slot: Slot) -> bool | None:
    if isinstance(node, Sequence):
        r.wrong_shape(node, slot, ("of one parameter: `required: true`",))
        return None
    return leaves.boolean(r, node, slot)


def _constant(r: Reading, node: Node, slot: Slot) -> tuple[Any] | None:
    """The value in a tuple of its own: it may be `null`."""
    return (json_value(r, node, slot),)


def _gives_several(parameter: Parameter) -> bool:
    """Whether it gives several values, as far as what is written of it says so."""
    return parameter.is_list and parameter.content is None


ORDERS: Final = OfVerbs(lambda verb: verb.lists, "orders a list")


# fmt: off

@dataclass(frozen=True, slots=True)
class Parameter:
    """An entry of `path`, `query` or `request headers`. `schema` is that of the value that it gives; it is empty where
    none is written, and says no type where what the parameter does says it. `origin`: the name in the document, by
    which codes are for it, where an older version has another one for it."""

    name: str
    span: Span
    schema: Schema
    required: Fact[bool] | None = restricts(
        "required", shapes.Boolean(), "Whether a request has to give it.", "A request may leave it out.",
        read=_is_required, sentence="required")
    default: Fact[tuple[Any]] | None = adds(
        "default", shapes.JSON(), "The value where a request does not give it: a constant, held to the schema.",
        "There is no value where it is not given, and what it does takes no part.", read=_constant,
        told="where it is not given, the value is")
    explode: Fact[bool] | None = asked(
        "explode", shapes.Boolean(),
        "How several values are given: the parameter is repeated (`true`), or its value has commas (`false`). A "
        "header that is repeated is one with commas in HTTP: `true` takes it for one value, commas and all.", DOES,
        NOT_SERVED, when=When("it gives several values", _gives_several), told="several values are",
        words=lambda explode: "repeated" if explode else "comma separated")
    content: Fact[Name] | None = adds(
        "content", shapes.Word((JSON,)), "The media type of what it gives: its text is JSON.",
        "It gives a text, a number, a truth value or a time, or several of these.", told="its text is of",
        order="other")
    where: Fact[Expression] | None = restricts(
        "where", shapes.Expression(shapes.Sight.CALLERS),
        "A predicate on the row (of a stream, on `event`) and on `value`, what the parameter gives. Rows for which it "
        "holds are listed, or changed, and events told. The type of `value` is the expression's where the schema says "
        "none.",
        "It narrows nothing.", told="narrows to", meanings=("pages and filters", "truth"), side="gives",
        promise="show more rows",
        does=OfVerbs(lambda verb: verb.is_of_all or verb.streams, "narrows a list or a stream"))
    sorts: Fact[tuple[Offered, ...]] | None = adds(
        "sorts", shapes.OneOf((shapes.Names(KEY), shapes.MappingOf("names to such fields"))),
        "It chooses the order: these can be chosen. One that gives several chooses by the first, then the next.",
        "It chooses no order.", read=read_offered, promise="add a sort", does=ORDERS, below=(
            named("NAME", Kind.ADDS, "The order of that name.", "It cannot be chosen.",
                  shapes.Names(KEY, alone=True)),))
    reverses: Fact[tuple[Name, ...]] | None = adds(
        "reverses", shapes.Names("a value"),
        "With these values the order is turned round. Each field of what is chosen, or of the endpoint's `sort`, is "
        "sorted by in its other direction.", "It turns nothing round.",
        told="values that turn the order round", words=in_backticks, meanings=("ties",), order="other",
        does=ORDERS)
    selects: Fact[tuple[Name, ...]] | None = adds(
        "selects", shapes.Names("a member of what is shown of a row"),
        "It names the members to show, which are of these. Where it is not given all are shown.",
        "It chooses no members.", told="members that can be named", words=in_backticks, meanings=("choices",),
        does=OfVerbs(lambda verb: verb.reads_rows, "says what a request chooses of what is shown"))
    always: Fact[tuple[Name, ...]] | None = adds(
        "always", shapes.Names("a member of what is shown of a row"),
        "Beside `selects`: members that are shown whatever is named.", "Only what is named is shown.",
        told="members that are shown whatever is named", words=in_backticks)
    expands: Fact[tuple[Expanded, ...]] | None = adds(
        "expands", shapes.OneOf((shapes.Names("a reference"), shapes.MappingOf("names to what is shown"))),
        "It names what is to be shown as rows, which is of these. They are references, or names, each with what is "
        "shown. A reference is shown as its whole row.", "It shows nothing as rows.", read=read_expanded,
        told="what can be shown as rows", meanings=("choices",),
        does=OfVerbs(lambda verb: verb.reads_rows, "says what is shown on request"),
        words=lambda offered: in_backticks(Name(each.name, each.span) for each in offered), below=(
            named("NAME", Kind.ADDS,
                  "What is shown under that name: a view applied to the reference, a template, or the resource that "
                  "the reference leads to, for its whole row.", "It cannot be asked for.",
                  shapes.Template(shapes.Sight.CALLERS)),))
    origin: str | None = None

    # fmt: on

    def renamed(self, name: str) -> Parameter:
        """The same as an older version calls it."""
        return self if name == self.name else replace(self, name=name, origin=self.origin or self.name)

    @property
    def is_required(self) -> bool:
        return value_of(self.required) or False

    @property
    def is_list(self) -> bool:
        """Whether what is written of it says that it gives several values."""
        type_ = self.schema.json.get("type")
        kinds = type_ if isinstance(type_, list) else [type_]
        return "array" in kinds or self.selects is not None or self.expands is not None

    @property
    def says_type(self) -> bool:
        """Whether its schema says which values there are."""
        return any(each in self.schema.json for each in TYPING)

    @property
    def effects(self) -> tuple[str, ...]:
        """What it does beside being read: at most one thing."""
        return tuple(each for each in EFFECTS if getattr(self, each) is not None)


_OWN: Final = {each.name: each for each in members(Parameter)}
EFFECTS: Final = {name: each.does for name, each in _OWN.items() if each.does is not None}
"""What a parameter of the query may do, by the keys that say it."""

_KEYWORDS: Final = tuple(each.name for each in KEYS if each.name != "required")
_OF_VALUES: Final = ("required", "default", "explode", "content")
"""What is said of a value that a request gives by name, wherever it stands."""


def _rows(placeholder: Key, own: Iterable[str]) -> tuple[Key, ...]:
    """A value with its schema, and what stands beside the keywords."""
    under, listed = placeholder.path, tuple(own)
    schemas = (key for key in keywords(0, under) if key.name != "required")
    beside = (row for name in listed for row in _with_below(_OWN[name].key, _OWN[name].below))
    return placeholder, *schemas, *(replace(key, path=f"{under}.{key.path}") for key in beside)


def _with_below(key: Key, below: tuple[Key, ...]) -> tuple[Key, ...]:
    return key, *(replace(row, path=f"{key.path}.{row.path}") for row in below)


# fmt: off

PATH_VALUES = _rows(
    named("NAME", Kind.NAMES, "A value in the path and its schema.",
          "The name in braces is that of a field, else an error.", shapes.JSONSchema()), ())
QUERY_PARAMETERS = _rows(
    named("PARAMETER", Kind.ADDS,
          "A query parameter: its schema, and what it does; or an expression, which is its `where` alone.",
          "There is no such parameter.",
          shapes.OneOf((shapes.Expression(shapes.Sight.CALLERS), shapes.JSONSchema())),
          promise="add an optional parameter"), _OWN)
REQUEST_HEADERS = _rows(
    named("PARAMETER", Kind.ADDS, "A request header and its schema.", "No such header is read.", shapes.JSONSchema(),
          promise="add an optional parameter"), _OF_VALUES)

# fmt: on

IN_ITS_SCHEMA: Final = "which are required is said in the schema of each: `{0}: {{type: string, required: true}}`"
ALL_OF_A_PATH: Final = "leave it out: a request gives everything that its path names"


def _by_name(among: str, required: str, own: Iterable[str]) -> Read[tuple[Parameter, ...]]:
    """Reads schemas by name, with what stands beside the keywords of each."""
    keys = {name: _OWN[name].key for name in own}

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
        entries = r.entries(node, slot)
        if entries is None:
            return None
        meant = (entry for entry in entries if is_a_name(r, entry, among, required))
        return tuple(found for entry in meant if (found := _parameter(r, entry, keys)) is not None)

    return read


def _parameter(r: Reading, entry: Entry, keys: TableOfKeys) -> Parameter | None:
    """A schema, and what is said beside its keywords."""
    if not isinstance(entry.value, Mapping):
        r.wrong_shape(entry.value, Slot(entry.name, shapes.JSONSchema()))
        return None
    of_members = entry.value.get("content") is not None  # JSON has members; `required` of them is a list
    beside, others = list[Entry](), list[Entry]()
    for each in entry.value.entries:
        if each.name == "required" and of_members and isinstance(each.value, Sequence):
            others.append(each)
        elif each.name in keys:
            beside.append(each)
        elif each.name == "required":
            r.unknown(each.key, entry.name, (), (ALL_OF_A_PATH,))
        elif each.name in _OWN:
            where = "at `query` or `request headers`" if each.name in _OF_VALUES else "at `query` alone"
            r.unknown(each.key, entry.name, (), (f"`{each.name}` stands {where}",))
        elif is_unknown(r, each.name):
            also = ("required",) if of_members and "required" not in keys else ()
            r.unknown(each.key, entry.name, (*keys, *_KEYWORDS, *also))
        else:
            others.append(each)
    level = r.keyed(Mapping(entry.value.span, tuple(beside)), keys, entry.name)
    found = schema(r, Mapping(entry.value.span, tuple(others)), Slot(entry.name, shapes.JSONSchema()))
    if found is None:
        return None
    return Parameter(entry.name, entry.key.span, found, **read_members(r, Parameter, level, tuple(keys)))


def _in_query(r: Reading, entry: Entry, keys: TableOfKeys) -> Parameter | None:
    """A schema with what it does, or a condition."""
    is_condition = isinstance(entry.value, Scalar) and entry.value.text not in (*TYPES, "true", "false")
    if not is_condition:
        return _parameter(r, entry, keys) if is_a_name(r, entry, "parameters", IN_ITS_SCHEMA) else None
    condition = r.fact(entry.value, Slot(entry.name, keys["where"].shape), expression, entry.proposed)
    return Parameter(entry.name, entry.key.span, Schema({}, Mapping(entry.value.span, ())), where=condition)


def read_query(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
    """Each a condition, or a schema with what it does."""
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    keys = {name: each.key for name, each in _OWN.items()}
    return tuple(each for each in r.each(node.entries, lambda entry: _in_query(r, entry, keys)) if each is not None)


read_path_values = _by_name("names of the path", ALL_OF_A_PATH, ())
_headers = _by_name("headers", IN_ITS_SCHEMA, _OF_VALUES)


def read_request_headers(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
    found = _headers(r, node, slot)
    for each in found or ():
        leaves.is_header(r, Name(each.name, each.span))
    return found
