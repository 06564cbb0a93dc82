"""Part 2: resources, their fields, and the schemas and expressions that they share."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Literal, TypeAlias, get_args

from ninefold.diagnostics.codes import WRONG_SHAPE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.check import CHECKS, Check
from ninefold.language.declaration import Each, When, adds, asked, named, names, restricts, tells, together
from ninefold.language.expressions import (
    Expression,
    Items,
    Leaf,
    Member,
    Members,
    OnChange,
    Template,
    changes_in_words,
    on_change,
    template,
)
from ninefold.language.fact import Fact, Gap, Name, Shown, is_stated, value_of
from ninefold.language.identifiers import RESOURCE_NAMES, declare
from ninefold.language.json_schema import KEYS as KEYWORDS
from ninefold.language.json_schema import TYPING
from ninefold.language.key import Kind
from ninefold.language.question import Question
from ninefold.language.reading import Level, Reading, Slot
from ninefold.language.records import of_entry
from ninefold.language.schemas import BESIDE, NOT_USED, Schema, is_a_name, json_value, only_keywords, schema
from ninefold.language.states import MACHINE
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence, is_word
from ninefold.values import Type

# fmt: off

REACHING = "the endpoints that address, create, read or write R"
PRIMARY_KEY = Question("primary key", 2, "the primary key of {}, and who makes it", "blocks", REACHING, "R")
FIELDS = Question("fields", 2, "the fields of {}", "blocks", REACHING, "R")
TYPE = Question("type", 2, "the type of {}", "blocks", REACHING, "R.F")
READABLE = Question(
    "readable", 2, "what is readable of {}", "blocks", REACHING, "R.F",
    "of a `secret`, of a field that credentials are looked up in, and of the password that callers and sign ins are "
    "held to")
ON_DELETE = Question(
    "on delete", 2, "what deleting the row does that {} references", "blocks", "the endpoints that delete such rows",
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


def read_back(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The name of a back-reference, which is read like a field."""
    found = leaves.name(r, node, slot)
    if found is not None and isinstance(node, Scalar):
        declare(r, node, "a back-reference", selected=True)
    return found


DELETING = {"nullify": "set null", "no action": "restrict", "delete": "cascade"}
"""What others call what a deletion does."""


def read_on_delete(r: Reading, node: Node, slot: Slot) -> Name | None:
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


OnDelete: TypeAlias = Literal["restrict", "cascade", "set null"]


@dataclass(frozen=True, slots=True)
class Field:
    """`seen` is None in the version that the document describes. `schema` is `None` where nothing of JSON Schema is
    written (a reference, a state field). `type`: of a computed field that says none itself, that of its expression."""

    name: str
    span: Span
    on_create: Fact[Expression] | None = adds(
        "on create", shapes.Expression(), "The value when a row is created and the body does not give one.",
        "The field has no value then; a primary key is the client's to give.", meanings=("who gives a value",),
        side="moves")
    on_change: Fact[tuple[OnChange, ...]] | None = adds(
        "on change", shapes.OneOf((shapes.Expression(), shapes.MappingOf("fields to expressions"))),
        "The value at every write, at creation where `on create` gives none; of `{title or text: E}`, then and where "
        "one of these changes.",
        "Writes leave the field alone.", read=on_change, words=changes_in_words, meanings=("who gives a value",),
        side="moves")
    computed: Fact[Expression] | None = adds(
        "computed", shapes.Expression(),
        "The value, worked out from the row and from all others, the same for everyone; never stored. It reads neither "
        "`caller` nor `request`. Its type is the expression's, and has to be said only where that has none.",
        "The field is a stored one.", meanings=("truth",), side="moves")
    normalise: Fact[Expression] | None = adds(
        "normalise", shapes.Expression(shapes.Sight.NONE),
        "What is validated, stored and looked for, from `value` as it came.",
        "Values are taken as they come.", told="normalised before it is judged", meanings=("normalised values",),
        side="moves")
    references: Fact[Name] | None = asked(
        "references", shapes.Name("a resource"), "The field is a reference to a row of that resource.", TYPE, NO_TYPE,
        when=When("the field states no schema, `computed` or `state`"),
        sentence="references a {}")
    inverse: Fact[Name] | None = names(
        "inverse", shapes.NEW_NAME, "How the target calls the rows that refer to it.",
        "Each use of the name is an error.", read=read_back)
    on_delete: Fact[Name] | None = asked(
        "on delete", shapes.Word(get_args(OnDelete)),
        "What deleting the target does: it is refused, deletes this row too, or leaves the reference without value.",
        ON_DELETE, "that deletion is not served", when=When("something deletes the target"), read=read_on_delete,
        side="moves")
    unique: Fact[bool] | None = restricts(
        "unique", shapes.Boolean(), "No two rows have the same value. Nulls are distinct.",
        "Rows may have the same value.", sentence="unique", meanings=("values",), side="takes")
    immutable: Fact[bool] | None = restricts(
        "immutable", shapes.Boolean(),
        "The value is given once, and no update changes it. That of a primary key may be repeated. Any other breaks "
        "the rule `immutable` also in a `put` that may replace, whether there is a row or not.",
        "Updates whose body names the field change it.", sentence="immutable", side="takes")
    secret: Fact[Name] | None = asked(
        "secret", shapes.Word(("password", "token")),
        "`password`: kept as an Argon2id hash, never readable; `token`: random, kept as a SHA-256 digest, found by "
        "it, and readable once, as `issued.NAME`.", READABLE,
        "endpoints that name the scheme are not served. Else it is readable like any other",
        when=When("credentials or passwords are looked up in the field"))
    sensitive: Fact[bool] | None = tells(
        "sensitive", shapes.Boolean(), "The value is masked in logs.", sentence="masked in logs")
    state: Fact[bool] | None = asked(
        "state", shapes.Boolean(only_true=True),
        "The field shows the row's state, and moves by transitions alone; one field of a resource does.", MACHINE,
        NO_TYPE, when=When("part 3 states states of the resource"),
        sentence="the state, which moves by transitions alone", meanings=("who gives a value",))
    schema: Fact[Schema] | None = together(KEYWORDS, own_schema)
    seen: Seen | None = None
    type: Type | None = None

    @property
    def is_made_of_its_expression(self) -> bool:
        """Whether it is computed, and nothing is written of its type, not even that it is not shown."""
        if not isinstance(self.computed, Shown) or not (self.schema is None or isinstance(self.schema, Shown)):
            return False
        schema = value_of(self.schema)
        return schema is None or not any(schema.node.get(each) for each in TYPING)

    @property
    def called(self) -> str | None:
        """Its name for callers; None: it is not there for them."""
        return self.name if self.seen is None else self.seen.called

    @property
    def at_every_write(self) -> Expression | None:
        """What gives it its value whenever the row is written."""
        return next((each.value for each in value_of(self.on_change) or () if not each.fields), None)

    @property
    def anew(self) -> tuple[OnChange, ...]:
        """What gives it another value where a write changes certain fields."""
        return tuple(each for each in value_of(self.on_change) or () if each.fields)

    @property
    def at_creation(self) -> Expression | None:
        """What gives it its value in a new row."""
        return value_of(self.on_create) or next((each.value for each in value_of(self.on_change) or ()), None)

    @property
    def stated_values(self) -> tuple[Expression, ...]:
        """All that `on create` and `on change` give it."""
        created = value_of(self.on_create)
        return (*(() if created is None else (created,)), *(each.value for each in value_of(self.on_change) or ()))

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


def read_records(r: Reading, node: Node, slot: Slot) -> Node | None:
    """Rows, each a mapping from fields to values."""
    items = r.items(node, slot)
    for item in items or ():
        if isinstance(item, Mapping):
            json_value(r, item, slot)
        else:
            r.wrong_shape(item, Slot("a record", shapes.Members()))
    return None if items is None else node


@dataclass(frozen=True, slots=True)
class View:
    """A template over a row; `[id, name, {author: profile(article.author)}]` or a mapping."""

    name: str
    span: Span
    template: Template


def _with_its_name(item: Template, terms: Collection[str]) -> Template:
    """A term by its name alone is a member of that name: `favorited` says what `{favorited: favorited}` does."""
    match item:
        case Leaf(Expression() as expression) if expression.terms and expression.text.strip() in terms:
            member = Member(expression.text.strip(), expression.span, item)
            return Members((member,), expression.span)
        case _:
            return item


def read_views(r: Reading, node: Node, slot: Slot) -> tuple[View, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        declare(r, entry.key, "a view")
        shown = template(r, entry.value, Slot(entry.name, shapes.Template()))
        if isinstance(shown, Items):
            shown = replace(shown, items=tuple(_with_its_name(each, r.terms) for each in shown.items))
        # One that cannot be read is still declared: its uses are not wrong.
        found.append(View(entry.name, entry.key.span, shown or Items((), entry.value.span)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Resource:
    """What it `includes` of others is among its facts."""

    name: str
    span: Span
    primary_key: Fact[tuple[Name, ...]] | None = asked(
        "primary key", FIELD_OR_FIELDS,
        "The field, or the fields together, by which a row is known; `none`: there is one row, from the start.",
        PRIMARY_KEY, "endpoints that address or create R are not served",
        when=When("R has rows"), says_none=True, order="steps")
    fields: Fact[tuple[Field, ...]] | None = asked(
        "fields",
        Each(Field,
             named("FIELD", Kind.NAMES, "A field: a JSON Schema with these annotations.",
                   "Each use of its name is an error.", shapes.JSONSchema()),
             "fields to schemas", refused=NOT_USED,
             look=lambda r, entry, _: declare(r, entry.key, "a field", frozenset({"const"}), selected=True),
             admits=lambda r, entry: is_a_name(r, entry, "fields", BESIDE)),
        "What a row holds.", FIELDS, "endpoints that read or write R are not served", main=True)
    includes: Fact[tuple[Name, ...]] | None = names(
        "includes", shapes.Names("a resource", alone=True),
        "Other resources, whose fields it has before its own, with what their `required`, `unique` and `check` "
        "say of them, and with their views. In these, the other's name means this resource. One that has no "
        "primary key, and is included, is no resource itself.",
        "It has its own fields alone; each use of what it took over is an error.")
    required: Fact[tuple[Name, ...]] | None = restricts(
        "required", A_FIELD, "Fields that a row has a value for.", "A row may lack a value.")
    unique: Fact[tuple[tuple[Name, ...], ...]] | None = restricts(
        "unique", shapes.ListOf(A_FIELD),
        "Lists of fields: no two rows are the same in all of one list. Nulls are distinct.",
        "Rows may have the same values.", read=unique_lists, side="takes")
    check: Fact[tuple[Check, ...]] | None = restricts(
        "check", CHECKS, "What holds of every row after every write.", "No write is refused for it.", side="takes")
    records: Fact[Node] | None = adds(
        "records", shapes.ListOf(shapes.MappingOf("fields to values")), "Rows that the contract itself states.",
        "There are no such rows.",
        read=read_records, side="moves", order="steps")
    expires: Fact[Expression] | None = adds(
        "expires", shapes.Expression(),
        "When a row deletes itself, from the row. One for which there is no time is there until it is deleted.",
        "A row is there until it is deleted.", told="deletes itself at", meanings=("due rows",), side="moves")
    views: Fact[tuple[View, ...]] | None = names(
        "views", shapes.MappingOf("views to what they show"),
        "Ways to show a row, each a function of a row or of several.", "Each use of a view is an error.",
        read=read_views, below=(
            named("VIEW", Kind.NAMES,
                  "What the view shows: a list of fields, with mappings for what is not a field, or a template.",
                  "Each use of its name is an error.", shapes.Template(shapes.Sight.OF_USE)),))

    @property
    def state(self) -> Name | None:
        """The field that shows the state; of several, the first."""
        marked = (each for each in value_of(self.fields) or () if is_stated(each.state))
        return next((Name(each.name, each.span) for each in marked), None)

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The fields that together belong to one row at most: its primary key, each that is unique, and the others."""
        groups = (value_of(self.primary_key) or (), *(value_of(self.unique) or ()))
        first, *others = (tuple(each.text for each in group) for group in groups)
        alone = ((each.name,) for each in value_of(self.fields) or () if is_stated(each.unique))
        return tuple(dict.fromkeys(each for each in (first, *alone, *others) if each))


# Shared types, and terms

@dataclass(frozen=True, slots=True)
class SharedType:
    """An entry of `types`: a schema that others refer to as `#/types/NAME`."""

    name: str
    span: Span
    schema: Fact[Schema] | None = together(KEYWORDS, own_schema)


def shared_types(level: Level) -> tuple[SharedType, ...]:
    """The schemas below `types`. Where that is a gap, so is every schema that refers to one."""
    entry = level.known.get("types")
    if entry is None or is_word(entry.value, "none"):
        return ()
    level.reading.note_slips(entry.value, Slot("types", shapes.Members()))
    below = level.reading.keyed(entry.value, {}, "types", is_open=True)
    with level.reading.proposing(entry.proposed or entry.value.proposed):
        return below.declared(partial(of_entry(SHARED), level.reading))


SHARED = Each(
    SharedType,
    named("TYPE", Kind.NAMES, "A JSON Schema, used as `$ref: \"#/types/TYPE\"`.", "Each use of its name is an error.",
          shapes.JSONSchema()),
    "names to schemas", refused=NOT_USED, look=lambda r, entry, _: declare(r, entry.key, "a shared type"))


@dataclass(frozen=True, slots=True)
class Resources:
    """`terms`: where each is declared; what they are is put where their names stand."""

    resources: Fact[tuple[Resource, ...]] | None = names(
        "",
        Each(Resource,
             named("RESOURCE", Kind.NAMES, "A kind of thing that the service keeps.",
                   "Each use of its name is an error."),
             look=lambda r, entry, _: declare(r, entry.key, "a resource", RESOURCE_NAMES)),
        "", "")
    types: tuple[SharedType, ...] = names(
        "types", SHARED, "Schemas that several fields share; a reserved name.",
        "Each use of a shared schema is an error.", whole=shared_types, default=())
    terms: tuple[Name, ...] = names(
        "terms", shapes.MappingOf("names to expressions"),
        "Expressions with names of their own; a reserved name. A term means its expression wherever another one "
        "reads its name, with what can be read there; one with parameters, `sees(t): …`, is called, as `sees(x)`. It "
        "may read any other, and none leads back to itself.",
        "Each use of a term is an error.", default=(),
        whole=lambda level: tuple(each.name for each in level.reading.terms.values()), below=(
            named("TERM", Kind.NAMES, "A named expression.", "Each use of its name is an error.",
                  shapes.Expression(shapes.Sight.OF_USE)),))
