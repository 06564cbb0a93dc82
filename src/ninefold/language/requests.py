"""Part 4: how requests are read, and what a body gives."""

from __future__ import annotations

from ninefold.diagnostics.codes import WRONG_SHAPE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.declaration import adds, asked, if_asked
from ninefold.language.expressions import Template, template
from ninefold.language.fact import Fact, Name
from ninefold.language.json_schema import TYPES
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot
from ninefold.language.schemas import BODY_OF_A_RESOURCE, type_reference
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence, Style, is_word

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


# How requests are read

@dataclass(frozen=True, slots=True)
class Requests:
    """How requests are read: all of them, or, where an endpoint says it, those of that one."""

    media_types: Fact[tuple[Name, ...]] | None = asked(
        "media type", shapes.OneOf((shapes.MediaType(), shapes.ListOf(shapes.MediaType()))),
        f"The media types of request bodies: of JSON, or `{shapes.FORM}`.", REQUEST_MEDIA_TYPE,
        "endpoints with a body are not served", when=if_asked(REQUEST_MEDIA_TYPE),
        read=leaves.request_media_types, told="media type of requests",
        words=lambda names: ", ".join(each.text for each in names))
    unknown_members: Fact[Name] | None = asked(
        "unknown members", shapes.Word(("refused", "ignored")),
        "What happens to members of a body that no fact names.", UNKNOWN_MEMBERS,
        "endpoints with a body are not served", when=if_asked(UNKNOWN_MEMBERS),
        sentence="members that no fact names are {}", order="words")
    unknown_parameters: Fact[Name] | None = asked(
        "unknown parameters", shapes.Word(("refused", "ignored")),
        "What happens to query parameters that no fact names.", UNKNOWN_PARAMETERS,
        "endpoints with parameters are not served", sentence="query parameters that no fact names are {}",
        order="words", planned=True)
    texts: Fact[Name] | None = adds(
        "texts", shapes.Word(("read",)),
        'Texts that JSON would read as numbers or truth values (`"1"`, `"true"`) are taken for these. So it is where a '
        "field of the body, or each item of its array, is one.", 'A text is a text: `"1"` is no number.',
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
        of = node.entries[0].value
        if is_word(of, "not shown"):
            r.leaves_open(of.span)
            return None
        reference = type_reference(r, of, BODY_OF_A_RESOURCE)
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
    if type_ is not None and is_word(type_.value, "object"):
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
