"""Part 2: resources, their fields, and the schemas and expressions that they share."""

from __future__ import annotations

from ninefold.contract.expression import Expression, Items, Template
from ninefold.contract.fact import Fact, Gap, Name
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.codes import WITHOUT_GUARD, WRONG_SHAPE
from ninefold.language.declaration import Each, One, Several, adds, asked, named, names, restricts, tells, together
from ninefold.language.expressions import expression, template
from ninefold.language.identifiers import RESOURCE_NAMES, declare
from ninefold.language.json_schema import KEYS as KEYWORDS
from ninefold.language.key import Kind
from ninefold.language.question import Question
from ninefold.language.reading import Level, Reading, Slot, quoted
from ninefold.language.schemas import BESIDE_FIELDS, NOT_USED, Schema, is_a_name, json_value, only_keywords, schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence

# fmt: off

REACHING = "the endpoints that address, create, read or write R"
IDENTIFIER = Question("identifier", 2, "the identifier of {}, and who makes it", "blocks", REACHING, "R")
FIELDS = Question("fields", 2, "the fields of {}", "blocks", REACHING, "R")
TYPE = Question("type", 2, "the type of {}", "blocks", REACHING, "R.F")
READABLE = Question(
    "readable", 2, "what is readable of {}", "blocks", REACHING, "R.F",
    "of a `secret`, of a field that credentials are looked up in, and of the password that callers and sign ins are "
    "held to")
ON_DELETE = Question(
    "on delete", 2, "what deleting the row does that {} refers to", "blocks", "the endpoints that delete such rows",
    "R.F", "of a reference, if an endpoint deletes rows of its target")


# Fields

NO_TYPE = "whatever reads or writes the field is not served"
A_FIELD = shapes.Names("a field")
FIELD_OR_FIELDS = shapes.Names("a field", alone=True)


def own_schema(level: Level) -> Fact[Schema] | None:
    """What a field says in JSON Schema, as one fact."""
    if level.gap is not None:
        return Gap(level.gap)
    if not isinstance(level.node, Mapping):
        return None
    keywords = only_keywords(level.node)
    return level.reading.fact(keywords, Slot(level.called, shapes.JSONSchema()), schema) if keywords.entries else None


def back(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The name of a back-reference, which is read like a field."""
    found = leaves.name(r, node, slot)
    if found is not None and isinstance(node, Scalar):
        declare(r, node, "a back-reference", selected=True)
    return found


DELETING = {"set null": "clear", "nullify": "clear", "restrict": "refuse", "no action": "refuse", "delete": "cascade"}
"""What SQL and others call what a deletion does."""


def on_delete(r: Reading, node: Node, slot: Slot) -> Name | None:
    """A word of the closed list."""
    if isinstance(node, Scalar) and (meant := DELETING.get(node.text.casefold())) is not None:
        leaves.wrong_word(r, node, slot.called, leaves.words_of(slot.shape), meant)
        return None
    return leaves.word(r, node, slot)


@dataclass(frozen=True, slots=True)
class Seen:
    """How callers of an older version see a field. `called`: its name for them; None: it is not there for them.
    `instead`: the field that is shown in its place, whose own `place_of` is this one's name. `schema`: what they give
    is held to it. `stored`: what is kept of the `value` that they give."""

    called: str | None
    span: Span
    instead: str | None = None
    place_of: str | None = None
    schema: Schema | None = None
    stored: Expression | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """`seen` is None in the version that the document describes. `schema` is `None` where nothing of JSON Schema is
    written (a reference, a state field)."""

    name: str
    span: Span
    on_create: Fact[Expression] | None = adds(
        "on create", shapes.Expression(), "The value when a row is created and the body does not give one.",
        "The field has no value then; an identifier is the client's to give.", meanings=(4,))
    on_change: Fact[Expression] | None = adds(
        "on change", shapes.Expression(), "The value at every write, creation included.",
        "Writes leave the field alone.", meanings=(4,))
    again_on: Fact[tuple[Name, ...]] | None = adds(
        "again on", FIELD_OR_FIELDS, "Fields; when an update gives one of them, `on create` gives the value again.",
        "The value is given once.", told="made again on a change of")
    computed: Fact[Expression] | None = adds(
        "computed", shapes.Expression(),
        "The value, worked out from the row and from all others, the same for everyone; never stored.",
        "The field is a stored one.", meanings=(9,))
    normalise: Fact[Expression] | None = adds(
        "normalise", shapes.Expression(), "The value that is validated and stored, from `value` as it came.",
        "Values are taken as they come.", told="normalised before it is judged")
    refers_to: Fact[Name] | None = asked(
        "refers to", shapes.Name("a resource"), "The field is a reference to a row of that resource.", TYPE, NO_TYPE,
        sentence="refers to a {}")
    back: Fact[Name] | None = names(
        "back", shapes.Name("a new name"), "How the target calls the rows that refer to it.",
        "Each use of the name is an error.", read=back)
    on_delete: Fact[Name] | None = asked(
        "on delete", shapes.Word(("refuse", "cascade", "clear")),
        "What deleting the target does: it is refused, it deletes this row too, or it clears the reference.", ON_DELETE,
        "that deletion is not served", when=When("something deletes the target"), read=on_delete)
    unique: Fact[bool] | None = restricts(
        "unique", shapes.Boolean(), "No two rows have the same value. Nulls are distinct.",
        "Rows may have the same value.", sentence="unique", meanings=(3,))
    immutable: Fact[bool] | None = restricts(
        "immutable", shapes.Boolean(),
        "The value is given once, and no update changes it; that of an identifier may be repeated.",
        "Updates whose body names the field change it.", sentence="immutable")
    secret: Fact[Name] | None = asked(
        "secret", shapes.Word(("password", "token")),
        "`password`: kept as an Argon2id hash and never readable. `token`: random, kept as a SHA-256 digest, found "
        "by it, and readable once, as `issued.NAME`.", READABLE,
        "endpoints that name the scheme are not served. Else it is readable like any other",
        when=When("credentials or passwords are looked up in the field"))
    sensitive: Fact[bool] | None = tells(
        "sensitive", shapes.Boolean(), "The value is masked in logs.", sentence="masked in logs")
    state: Fact[bool] | None = asked(
        "state", shapes.Boolean(only_true=True),
        "The field shows the row's state, and moves by transitions alone.", TYPE, NO_TYPE,
        sentence="the state, which moves by transitions alone", meanings=(4,))
    schema: Fact[Schema] | None = together(KEYWORDS, own_schema)
    seen: Seen | None = None

    @property
    def called(self) -> str | None:
        """Its name for callers; None: it is not there for them."""
        return self.name if self.seen is None else self.seen.called

    @property
    def is_older(self) -> bool:
        """Whether only an older version has it, worked out: no field of a document has such a name."""
        return " of " in self.name


# Resources

def unique_lists(r: Reading, node: Node, slot: Slot) -> tuple[tuple[Name, ...], ...] | None:
    """`[[a, b]]`: fields that are unique together."""
    if isinstance(node, Sequence) and node.items and all(isinstance(item, Scalar) for item in node.items):
        written = ", ".join(item.text for item in node.items if isinstance(item, Scalar))
        r.say(
            WRONG_SHAPE,
            "`unique` is a list of fields, not a list of such lists",
            Label(node.span),
            help=(f"fields that are unique together are a list of their own: `[[{written}]]`",),
        )
        return None
    items = r.items(node, slot)
    if items is None:
        return None
    lists = (leaves.names(r, item, Slot(slot.called, A_FIELD)) for item in items)
    return tuple(each for each in lists if each)


@dataclass(frozen=True, slots=True)
class Invariant:
    """What holds of every row after every write; `otherwise` names the error code."""

    when: Expression
    otherwise: Name | None
    span: Span
