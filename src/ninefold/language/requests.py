"""Part 4: how requests are read, what they bring beside a body, and what they choose of a response."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.codes import WRONG_SHAPE
from ninefold.language.declaration import Each, adds, asked, named
from ninefold.language.expressions import ANY, Expression, Template, expression, template
from ninefold.language.fact import Fact, Name
from ninefold.language.json_schema import TYPES, keywords
from ninefold.language.key import Key, Kind
from ninefold.language.question import Question
from ninefold.language.reading import Read, Reading, Slot, quoted
from ninefold.language.records import of_entry
from ninefold.language.schemas import BODY_OF_A_RESOURCE, Schema, is_a_name, schema, type_reference
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, Style

# fmt: off

DOES = Question("does", 4, "what {} does", "blocks", "E", "E")
ORDER = Question("order", 4, "the order in which {} lists", "blocks", "E", "E", "of each list")
REQUEST_MEDIA_TYPE = Question(
    "request media type", 4, "the media type of requests", "blocks", "the endpoints with a body",
    asked="if an endpoint has a body, or refuses one that has members")
UNKNOWN_MEMBERS = Question(
    "unknown members", 4, "what happens to members that no fact names", "blocks", "the endpoints that state a body",
    asked="if an endpoint states a `body`, be it `none`")
UNKNOWN_PARAMETERS = Question(
    "unknown parameters", 4, "what happens to parameters that no fact names", "blocks", "every endpoint")

NOT_SERVED = "E is not served"
PARAMETER = shapes.Name("a query parameter")


# How requests are read

@dataclass(frozen=True, slots=True)
class Requests:
    """How requests are read: all of them, or, where an endpoint says it, those of that one."""

    media_types: Fact[tuple[Name, ...]] | None = asked(
        "media type", shapes.OneOf((shapes.MediaType(), shapes.ListOf(shapes.MediaType()))),
        f"The media types of request bodies: of JSON, or `{shapes.FORM}`.", REQUEST_MEDIA_TYPE,
        "endpoints with a body are not served", read=leaves.request_media_types, told="media type of requests",
        words=lambda names: ", ".join(each.text for each in names))
    unknown_members: Fact[Name] | None = asked(
        "unknown members", shapes.Word(("refused", "ignored")),
        "What happens to members of a body that no fact names.", UNKNOWN_MEMBERS,
        "endpoints with a body are not served", sentence="members that no fact names are {}", order="words")
    unknown_parameters: Fact[Name] | None = asked(
        "unknown parameters", shapes.Word(("refused", "ignored")),
        "What happens to query parameters that no fact names.", UNKNOWN_PARAMETERS,
        "endpoints with parameters are not served", sentence="query parameters that no fact names are {}",
        order="words")
    texts: Fact[Name] | None = adds(
        "texts", shapes.Word(("read",)),
        "Where a field of the body, or each item of its array, is a number or a truth value, a text that JSON would "
        'read as one (`"1"`, `"true"`) is taken for it.', 'A text is a text: `"1"` is no number.',
        says_none=True, sentence="a text where a number or a truth value is meant is {} as one")


# What a body gives

@dataclass(frozen=True, slots=True)
class Body:
    """`fields`: a list of field names or a template read backwards, each of whose leaves is a field's
    path or a list of fields. `reference`: `$ref` to a shared type, by the type's name (`line`)."""

    template: Template | None
    reference: Name | None
    span: Span


def read_body(r: Reading, node: Node, slot: Slot) -> Body | None:
    if isinstance(node, Mapping) and len(node.entries) == 1 and node.entries[0].name == "$ref":
        reference = type_reference(r, node.entries[0].value, BODY_OF_A_RESOURCE)
        return None if reference is None else Body(None, reference, node.span)
    if isinstance(node, Mapping) and _is_schema(node):
        help = ("a body lists fields: `[NAME, …]`; what they are, and which are required, part 2 says",)
        r.say(WRONG_SHAPE, "`body` is a schema, not what a body gives", Label(node.span), help=help)
        return None
    if isinstance(node, Scalar):
        field = node.text.rpartition(".")[2]
        said = f"list its fields: `[{field}]`" if field.isidentifier() else "list its fields, or name its members"
        r.wrong_shape(node, slot, help=(f"a body is an object; {said}",))
        return None
    found = template(r, node, slot)
    return None if found is None else Body(found, None, node.span)


def _says_type(node: Node) -> bool:
    said = node.get("type") if isinstance(node, Mapping) else None
    return (
        said is not None
        and isinstance(said.value, Scalar)
        and said.value.style is Style.PLAIN
        and said.value.text in TYPES
    )


def _is_schema(node: Mapping) -> bool:
    """Whether a body is told as JSON Schema would: `type: object`, `properties` or members of schemas, `required` of
    what stands beside it."""
    type_, properties, required = (node.get(name) for name in ("type", "properties", "required"))
    if type_ is not None and isinstance(type_.value, Scalar) and type_.value.says("object"):
        return True
    if properties is not None and isinstance(properties.value, Mapping):
        inner = [each.value for each in properties.value.entries if isinstance(each.value, Mapping)]
        return any(each.get("type") or each.get("$ref") for each in inner)
    if any(_says_type(each.value) for each in node.entries):
        return True
    if required is None or not isinstance(required.value, Sequence):
        return False
    beside = {each.name for each in node.entries}
    return all(isinstance(each, Scalar) and each.text in beside for each in required.value.items)


# Values that a request gives by name

@dataclass(frozen=True, slots=True)
class Parameter:
    """An entry of `path`, `query` or `request headers`. `required`: whether a request has to give it."""

    name: str
    span: Span
    schema: Schema
    required: bool = False


def _rows(placeholder: Key, *own: Key) -> tuple[Key, ...]:
    """A value with its schema, and what stands beside the keywords."""
    under = placeholder.path
    schemas = (key for key in keywords(0, under) if key.name != "required")
    return placeholder, *schemas, *(replace(key, path=f"{under}.{key.path}") for key in own)


REQUIRED = named("required", Kind.RESTRICTS, "Whether a request has to give it.", "A request may leave it out.",
                 shapes.Boolean())
PATH_VALUES = _rows(
    named("NAME", Kind.NAMES, "A value in the path and its schema.",
          "The name in braces is that of a field, else an error.", shapes.JSONSchema()))
QUERY_PARAMETERS = _rows(
    named("PARAMETER", Kind.ADDS, "A query parameter and its schema.", "There is no such parameter.",
          shapes.JSONSchema(), promise="add an optional parameter"), REQUIRED)
REQUEST_HEADERS = _rows(
    named("PARAMETER", Kind.ADDS, "A request header and its schema.", "No such header is read.", shapes.JSONSchema(),
        promise="add an optional parameter"),
    REQUIRED)

IN_ITS_SCHEMA = "which are required is said in the schema of each: `{0}: {{type: string, required: true}}`"
ALL_OF_A_PATH = "leave it out: a request gives everything that its path names"


def values_by_name(among: str, required: str, *own: Key) -> Read[tuple[Parameter, ...]]:
    """Reads schemas by name, with what stands beside the keywords of each."""

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
        entries = r.entries(node, slot)
        if entries is None:
            return None
        meant = (entry for entry in entries if is_a_name(r, entry, among, required))
        return tuple(found for entry in meant if (found := _parameter(r, entry, own)) is not None)

    return read


def _parameter(r: Reading, entry: Entry, own: tuple[Key, ...]) -> Parameter | None:
    """A schema and, where a request may leave it out, `required` as a truth value."""
    shape = Slot(entry.name, shapes.JSONSchema())
    if not isinstance(entry.value, Mapping):
        r.wrong_shape(entry.value, shape)
        return None
    keys = {key.name: key for key in own}
    if REQUIRED.name not in keys and (told := entry.value.get(REQUIRED.name)) is not None:
        r.unknown(told.key, entry.name, (), (ALL_OF_A_PATH,))
    beside = tuple(each for each in entry.value.entries if each.name in keys)
    others = (each for each in entry.value.entries if each.name != REQUIRED.name)
    level = r.keyed(Mapping(entry.value.span, beside), keys, entry.name)
    found: Schema | None = schema(r, Mapping(entry.value.span, tuple(others)), shape)
    if found is None:
        return None
    return Parameter(entry.name, entry.key.span, found, level.inner(REQUIRED.name, _is_required) or False)


def _is_required(r: Reading, node: Node, slot: Slot) -> bool | None:
    if isinstance(node, Sequence):
        r.wrong_shape(node, slot, ("of one parameter: `required: true`",))
        return None
    return leaves.boolean(r, node, slot)


read_path_values = values_by_name("names of the path", ALL_OF_A_PATH)
read_query = values_by_name("parameters", IN_ITS_SCHEMA, REQUIRED)
_headers = values_by_name("headers", IN_ITS_SCHEMA, REQUIRED)


def read_request_headers(r: Reading, node: Node, slot: Slot) -> tuple[Parameter, ...] | None:
    found = _headers(r, node, slot)
    for each in found or ():
        leaves.is_header(r, Name(each.name, each.span))
    return found


# What a request chooses of a list, and of what is shown

def read_written(r: Reading, node: Node, slot: Slot) -> str | None:
    found = leaves.word(r, node, slot)
    return None if found is None else found.text


WRITTEN = shapes.Word(("repeated", "comma separated"))
SEVERAL = "How several names are given: the parameter is repeated, or its value has commas."
ALONE = "The parameter gives one name."


def in_backticks(names: Iterable[Name]) -> str:
    return ", ".join(f"`{each.text}`" for each in names)


@dataclass(frozen=True, slots=True)
class Filter:
    """A list's filter: an expression over the row and `value`, or `{is, written, default}`."""

    name: str
    span: Span
    condition: Fact[Expression] | None = asked(
        "is", shapes.Expression(shapes.Sight.CALLERS),
        "The condition.", DOES, NOT_SERVED, told="rows where", meanings=("pages and filters", "truth"))
    written: Fact[str] | None = adds(
        "written", WRITTEN, "How several values are given: the parameter is repeated, or its value has commas.",
        "The parameter gives one value.", read=read_written, told="several values are", words=str)
    default: Fact[Expression] | None = adds(
        "default", shapes.Expression(shapes.Sight.NONE), "The value where the parameter is not given.",
        "The filter takes no part where it is not given.", told="where it is not given, the value is")


FILTERS = Each(
    Filter,
    named("FILTER", Kind.ADDS, "A condition on the row and on `value`, what the parameter gives.",
          "There is no such parameter.", shapes.OneOf((shapes.Expression(shapes.Sight.CALLERS), shapes.Members())),
        promise="add a filter"),
    "parameters to conditions")


def read_filters(r: Reading, node: Node, slot: Slot) -> tuple[Filter, ...] | None:
    """Each an expression, or `{is, written, default}`."""
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    whole = of_entry(FILTERS)

    def one(entry: Entry) -> Filter:
        if isinstance(entry.value, Mapping):
            found: Filter = whole(r, entry)
            return found
        condition = r.fact(entry.value, Slot(entry.name, ANY), expression, entry.proposed)
        return Filter(entry.name, entry.key.span, condition)

    return r.each(node.entries, one)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A field, ascending, or descending with a minus before it."""

    field: str
    descending: bool
    span: Span


DIRECTION = re.compile(r"(\w+)[ :]+(asc(?:ending)?|desc(?:ending)?)", re.IGNORECASE)
"""What SQL writes for `name` and `-name`."""


def read_sort_keys(r: Reading, node: Node, slot: Slot) -> tuple[SortKey, ...] | None:
    names = leaves.name_or_names(r, node, slot)
    if names is None:
        return None
    for each in names:
        if (found := DIRECTION.fullmatch(each.text)) is not None:
            r.say(
                WRONG_SHAPE,
                f"{quoted(each.text)} is not how a field is sorted by",
                Label(each.span),
                help=(f"write `{'-' if found[2].casefold().startswith('desc') else ''}{found[1]}`",),
            )
            return None
    return tuple(SortKey(each.text.removeprefix("-"), each.text.startswith("-"), each.span) for each in names)


@dataclass(frozen=True, slots=True)
class Sorts:
    """The order of a list, and the orders that its caller may choose."""

    parameter: Fact[Name] | None = adds(
        "parameter", PARAMETER, "The query parameter that chooses an order.", "Clients cannot choose.", side="takes")
    default: Fact[tuple[SortKey, ...]] | None = asked(
        "default", shapes.Names("a field (with `-` before it for descending)", alone=True),
        "The order where none is chosen. Ties are ordered by primary key.", ORDER, "the list is not served",
        read=read_sort_keys, order="sequence")
    offered: Fact[tuple[SortKey, ...]] | None = adds(
        "offered", shapes.Names("a field (with `-` before it for descending)"), "The orders that can be chosen.",
        "Clients cannot choose.", read=read_sort_keys, side="takes", promise="add a sort")


@dataclass(frozen=True, slots=True)
class Projection:
    """What members of a row a request chooses: those that `parameter` names of `offered`, and `always` the others."""

    parameter: Fact[Name] | None = asked(
        "parameter", PARAMETER,
        "The query parameter that names the members to show. Where it is not given all are shown.", DOES, NOT_SERVED,
        told="the query parameter that names the members to show", meanings=("choices",))
    offered: Fact[tuple[Name, ...]] | None = asked(
        "offered", shapes.Names("a member of what is shown of a row"), "The members that can be named.", DOES,
        NOT_SERVED, told="members that can be named", words=in_backticks)
    always: Fact[tuple[Name, ...]] | None = adds(
        "always", shapes.Names("a member of what is shown of a row"), "Members that are shown whatever is named.",
        "Only what is named is shown.", told="members that are shown whatever is named", words=in_backticks)
    written: Fact[str] | None = adds(
        "written", WRITTEN, SEVERAL, ALONE, read=read_written, told="several names are", words=str)


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


@dataclass(frozen=True, slots=True)
class Expansion:
    """Which references a request may have shown as rows."""

    parameter: Fact[Name] | None = asked(
        "parameter", PARAMETER, "The query parameter that names what is to be shown as rows.", DOES, NOT_SERVED,
        told="the query parameter that names what is shown as rows", meanings=("choices",))
    offered: Fact[tuple[Expanded, ...]] | None = asked(
        "offered", shapes.OneOf((shapes.Names("a reference"), shapes.MappingOf("names to what is shown"))),
        "What can be asked for: references, each shown as its whole row; or names, each with what is shown.", DOES,
        NOT_SERVED, read=read_expanded, told="what can be shown as rows",
        words=lambda offered: in_backticks(Name(each.name, each.span) for each in offered), below=(
            named("NAME", Kind.ADDS,
                  "What is shown under that name: a view applied to the reference, a template, or the resource that "
                  "the reference leads to, for its whole row.", "It cannot be asked for.",
                  shapes.Template(shapes.Sight.CALLERS)),))
    written: Fact[str] | None = adds(
        "written", WRITTEN, SEVERAL, ALONE, read=read_written, told="several names are", words=str)
