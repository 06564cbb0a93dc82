"""Contracts as trees that can be changed: read from any contract, written as one in the plain or the literate form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import PARTS, Document, Mapping, Node, Scalar, Sequence, Style


@dataclass(slots=True)
class Text:
    """A scalar. `plain`: written without quotes, so that it may be a keyword, a number or a truth value."""

    text: str
    plain: bool = False
    proposed: bool = False


@dataclass(slots=True)
class Members:
    entries: list[tuple[str, Tree]]
    proposed: bool = False


@dataclass(slots=True)
class Items:
    items: list[Tree]
    proposed: bool = False


Tree: TypeAlias = Text | Members | Items


def tree_of(name: str, data: bytes) -> Members:
    """The facts of a contract under the names of its nine parts."""
    document = compile_document(name, data).document
    return Members([(part.name, _of_part(document, part.number)) for part in document.parts])


def _of_part(document: Document, number: int) -> Tree:
    part = document.parts[number - 1]
    if number == 1:
        return Text("Keeps what is written here.")
    if part.statement is not None:
        return Text(part.statement.word.value, plain=True)
    return _of_node(part.facts)


def _of_node(node: Node) -> Tree:
    match node:
        case Scalar(text=text, style=style, proposed=proposed):
            return Text(text, style is Style.PLAIN, proposed)
        case Mapping(entries=entries, proposed=proposed):
            found = [(entry.name, _of_node(entry.value)) for entry in entries]
            for entry, (_, value) in zip(entries, found, strict=True):
                value.proposed = value.proposed or entry.proposed
            return Members(found, proposed)
        case Sequence(items=items, proposed=proposed):
            return Items([_of_node(item) for item in items], proposed)


def copied(tree: Tree) -> Tree:
    match tree:
        case Text(text, plain, proposed):
            return Text(text, plain, proposed)
        case Members(entries, proposed):
            return Members([(name, copied(value)) for name, value in entries], proposed)
        case Items(items, proposed):
            return Items([copied(item) for item in items], proposed)


def size(tree: Tree) -> int:
    return sum(1 for _ in places(tree))


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a tree: what holds it, where in it, and the names that lead to it."""

    holder: Members | Items
    index: int
    names: tuple[str, ...]

    @property
    def value(self) -> Tree:
        match self.holder:
            case Members(entries):
                return entries[self.index][1]
            case Items(items):
                return items[self.index]

    def put(self, value: Tree) -> None:
        match self.holder:
            case Members(entries):
                entries[self.index] = (entries[self.index][0], value)
            case Items(items):
                items[self.index] = value


def places(tree: Tree, names: tuple[str, ...] = ()) -> Iterator[Place]:
    """Every value below a tree, in its order."""
    match tree:
        case Members(entries):
            for index, (name, value) in enumerate(entries):
                yield Place(tree, index, (*names, name))
                yield from places(value, (*names, name))
        case Items(items):
            for index, value in enumerate(items):
                yield Place(tree, index, (*names, ""))
                yield from places(value, (*names, ""))


def plain_form(tree: Members) -> str:
    """A contract as one YAML document."""
    return "".join(f"{_key(name)}: {_value(value, 1)}\n" for name, value in tree.entries)


def literate_form(tree: Members) -> str:
    """The same as Markdown, where every part is a mapping or a word; else as one YAML document."""
    written = ["# Mutated\n"]
    for name, value in tree.entries:
        if name not in PARTS:
            return plain_form(tree)
        written.append(f"\n## {PARTS.index(name) + 1}\n\n")
        match value:
            case Members(entries):
                inner = "".join(f"{_key(key)}: {_value(each, 1)}\n" for key, each in entries)
                written.append(f"```yaml{' proposed' if value.proposed else ''}\n{inner}```\n")
            case Text(text):
                written.append(f"{text}\n" if name == "purpose" else f"It: {text}.\n")
            case Items():
                return plain_form(tree)
    return "".join(written)


def _key(name: str) -> str:
    simple = name.replace("_", "").replace(" ", "").isalnum() and name.isascii() and name.strip() == name
    return name if simple else _quoted(name)


def _value(tree: Tree, depth: int) -> str:
    tag = "!proposed " if tree.proposed and depth > 1 else ""
    margin = "  " * depth
    match tree:
        case Text(text, plain, _):
            return tag + (text if plain and _stands_plain(text) else _quoted(text))
        case Members(entries):
            if not entries:
                return tag + "{}"
            inner = "".join(f"{margin}{_key(name)}: {_value(value, depth + 1)},\n" for name, value in entries)
            return f"{tag}{{\n{inner}{margin[2:]}}}"
        case Items(items):
            return f"{tag}[{', '.join(_value(item, depth + 1) for item in items)}]"


def _stands_plain(text: str) -> bool:
    return bool(text) and all(c.isalnum() or c in " _.-/" for c in text) and text.isascii() and text.strip() == text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
