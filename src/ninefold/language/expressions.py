"""Expressions and templates as a contract writes them: parsed, with places, not yet typed; and their readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Final, TypeAlias

from ninefold.diagnostics import regex
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Const, Problem
from ninefold.expressions.ast import Name as AstName
from ninefold.expressions.parse import parse
from ninefold.expressions.terms import spelled_out, terms_read
from ninefold.expressions.tokens import RESERVED
from ninefold.expressions.tree import with_inner_quotes
from ninefold.language import shapes
from ninefold.language.fact import Name
from ninefold.language.leaves import is_header
from ninefold.language.reading import Reading, Slot
from ninefold.language.schemas import json_value
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Style
from ninefold.syntax.nodes import Sequence as SequenceNode


@dataclass(frozen=True, slots=True)
class Expression:
    """`written` maps offsets of the expression to places in the document. `terms` are the terms that it reads by
    name, each where it is declared; in `ast` they are spelled out."""

    ast: Ast
    written: Scalar
    terms: tuple[Name, ...] = ()

    @property
    def text(self) -> str:
        return self.written.text

    @property
    def span(self) -> Span:
        return self.written.span


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of a template: an expression, the name of a resource (`order`), or a view applied
    (`profile(article.author)`)."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    span: Span
    value: Template


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON object, its members in written order."""

    members: tuple[Member, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Items:
    """A JSON array written out. In a body it is a list of field names."""

    items: tuple[Template, ...]
    span: Span


Template: TypeAlias = Leaf | Members | Items


def leaves(template: Template, pointer: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Expression]]:
    """The expressions of a template, each with the names of the members that lead to it. An item of a list that is a
    name stands for a member that is called so."""
    match template:
        case Members(members):
            for member in members:
                yield from leaves(member.value, (*pointer, member.name))
        case Items(items):
            for item in items:
                name = item.expression.ast if isinstance(item, Leaf) else None
                yield from leaves(item, (*pointer, name.name) if isinstance(name, AstName) else pointer)
        case Leaf(expression):
            yield pointer, expression


def with_leaves(template: Template, change: Callable[[Expression], Expression]) -> Template:
    """A template with other expressions in its leaves."""
    match template:
        case Members(members):
            return replace(template, members=tuple(replace(m, value=with_leaves(m.value, change)) for m in members))
        case Items(items):
            return replace(template, items=tuple(with_leaves(item, change) for item in items))
        case Leaf(expression):
            return Leaf(change(expression))


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name: expression`, as in `sets`, `caller`, `headers`."""

    name: str
    span: Span
    value: Expression


def expressions_in(facts: object) -> Sequence[Expression]:
    """Every expression of a contract, or of a part of one, in written order."""
    found: list[Expression] = []
    _collect(facts, found)
    return found


def _collect(facts: object, found: list[Expression]) -> None:
    if isinstance(facts, Expression):
        found.append(facts)
    elif isinstance(facts, tuple):
        for each in facts:
            _collect(each, found)
    else:
        kind: type = type(facts)
        for name in holding_facts(kind):
            inner = getattr(facts, name)
            if inner is not None:
                _collect(inner, found)


@cache
def holding_facts(kind: type) -> tuple[str, ...]:
    """The names of the fields of a fact that may hold others: neither those of nodes nor plain values. Asked once of
    each kind, since contracts are walked often."""
    if not is_dataclass(kind) or issubclass(kind, Node | Document | Span):
        return ()
    return tuple(each.name for each in fields(kind) if each.type not in _PLAIN)


_PLAIN: Final = frozenset({"str", "bool", "int", "float", "Span", "str | None", "int | None", "bool | None", "Name"})
"""The types of fields, as they are written, that hold no expression."""


ANY = shapes.Expression()
"""The shape of an expression wherever one stands."""

_SENTENCE = regex.compile(r"[^\W\d_][\w'’-]*(?:[ ,;:–]+[\w'’-]+)*[.!?…]?")
"""Words as people write them: what a template holds where the inner quotes were forgotten."""

_ADDRESS = regex.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|/")
"""How a URI, or the path of one, begins (RFC 3986, 3.1 and 3.3)."""


def constant_in(node: Node) -> Node | None:
    """The constant that stands for itself: that of a mapping whose only member is `const`, `[]` and `{}`."""
    match node:
        case Mapping(entries=(entry,)) if entry.name == "const":
            return entry.value
        case Mapping(entries=()) | SequenceNode(items=()):
            return node
        case _:
            return None


def _is_called(r: Reading, found: Ast) -> bool:
    """Whether it is the name of a term that has parameters."""
    term = r.terms.get(found.name) if isinstance(found, AstName) else None
    return term is not None and term.meaning is not None and bool(term.meaning.parameters)


def expression(r: Reading, node: Node, slot: Slot, listed: bool = False) -> Expression | None:
    """An expression of CEL. A number, a truth value or `null` is one as it stands. `listed`: it may be the name of a
    field, which no term with parameters is, and which may be a word that CEL keeps for itself."""
    stands = constant_in(node)
    if stands is not None:
        written = r.document.source.cut(node.span)
        text = Scalar(node.span, written, None, Style.PLAIN, range(node.span.start, node.span.end + 1))
        value = json_value(r, stands, Slot("const", shapes.JSONSchema()))
        is_null = isinstance(stands, Scalar) and stands.text == "null"
        return None if value is None and not is_null else Expression(Const(value, 0, len(written)), text)
    if not isinstance(node, Scalar) or not node.text.strip():
        unread(r, node, slot)
        return None
    word = node.text if listed and node.text in RESERVED else None
    found = parse(node.text) if word is None else AstName(word, 0, len(word))
    used: tuple[Name, ...] = ()
    if r.terms and not isinstance(found, Problem) and not (listed and _is_called(r, found)):
        read = [r.terms[name] for name in terms_read(found, r.terms)]
        used = tuple(term.name for term in read)
        for term in read:
            if term.meaning is None:
                r.leaves_open(term.value)
        found = spelled_out(found, {term.name.text: term.meaning for term in read if term.meaning is not None})
    if not isinstance(found, Problem):
        return Expression(found, node, used)
    unread(r, node, slot, found)
    return None


def unread(r: Reading, node: Node, slot: Slot, found: Problem | None = None) -> None:
    """Says what is no expression, or what is wrong with one."""
    if not isinstance(node, Scalar) or found is None:
        written = r.document.source.cut(node.span)
        plain = not isinstance(node, Scalar) and "\n" not in written and '"' not in written
        hints = [f'an expression is text: `"{written}"`'] if plain else []
        if isinstance(node, Scalar) and node.style in (Style.SINGLE, Style.DOUBLE):
            hints.append("the empty text is `\"''\"`")
        r.wrong_shape(node, slot, help=hints)
        return
    help, words = found.help, node.text.strip()
    if not help and _ADDRESS.match(words):
        # Addresses of other systems and paths alike are text to CEL.
        help = (
            f"text has inner quotes: `{with_inner_quotes(words)}`; another system's address is the operator's to give: "
            "`operator.NAME`",
        )
    if not help and _SENTENCE.fullmatch(words):
        help = (f"text has inner quotes: `{with_inner_quotes(words)}`",)
    r.say(found.code, found.message, Label(node.part(found.start, found.end), found.label), help=help)


def assignments(r: Reading, node: Node, slot: Slot) -> tuple[Assignment, ...] | None:
    """`name: expression`, several of them."""
    entries = r.entries(node, slot)
    if entries is None:
        return None
    return tuple(
        Assignment(entry.name, entry.key.span, value)
        for entry in entries
        if (value := expression(r, entry.value, Slot(entry.name, ANY))) is not None
    )


@dataclass(frozen=True, slots=True)
class OnChange:
    """A value that is given at creation, and whenever a write changes one of some fields; of none: at every write."""

    fields: tuple[Name, ...]
    value: Expression


_ONE_FIELD: Final = regex.compile(r"(?<!\S)(?!or(?!\S))\S+")
"""A field in `title or text`."""


def on_change(r: Reading, node: Node, slot: Slot) -> tuple[OnChange, ...] | None:
    """An expression, or a mapping from fields (`title`, `title or text`) to expressions."""
    if not isinstance(node, Mapping) or constant_in(node) is not None:
        found = expression(r, node, slot)
        return None if found is None else (OnChange((), found),)
    changes = []
    for entry in r.entries(node, slot) or ():
        value = expression(r, entry.value, Slot(entry.name, ANY))
        named = _ONE_FIELD.finditer(entry.name)
        fields = tuple(Name(each[0], entry.key.part(each.start(), each.end())) for each in named)
        changes += [] if value is None else [OnChange(fields, value)]
    return tuple(changes)


def changes_in_words(changes: tuple[OnChange, ...]) -> str:
    """How they are told: `now`, or `slug(note.text)` when `text` changes."""
    return ", ".join(
        f"`{each.value.text}`" + (f" when {when} changes" if (when := either(each.fields)) else "") for each in changes
    )


def either(names: tuple[Name, ...]) -> str:
    """Names, as they are told."""
    return " or ".join(f"`{each.text}`" for each in names)


def header_values(r: Reading, node: Node, slot: Slot) -> tuple[Assignment, ...] | None:
    """The same of the headers of a response."""
    found = assignments(r, node, slot)
    for each in found or ():
        is_header(r, Name(each.name, each.span))
    return found


def template(r: Reading, node: Node, slot: Slot, listed: bool = False) -> Template | None:
    """A JSON value whose leaves are expressions. A member or item that is `none` is not there. None: nothing of it
    can be read, which has been said."""
    said = len(r.diagnostics)
    match node:
        case Mapping(entries=(entry,)) if entry.name == "const":
            found = expression(r, node, slot)
            return None if found is None else Leaf(found)
        case Mapping():
            members = []
            for entry in r.entries(node, slot) or ():
                value = template(r, entry.value, Slot(entry.name, slot.shape))
                if value is not None:
                    members.append(Member(entry.name, entry.key.span, value))
            return Members(tuple(members), node.span) if members or len(r.diagnostics) == said else None
        case SequenceNode():
            read = (template(r, item, slot, listed=True) for item in r.items(node, slot) or ())
            items = tuple(item for item in read if item is not None)
            return Items(items, node.span) if items or len(r.diagnostics) == said else None
        case Scalar():
            leaf = expression(r, node, slot, listed)
            return None if leaf is None else Leaf(leaf)
