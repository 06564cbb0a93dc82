"""Two values of one key: which of them admits more, by the order that the key declares."""

from __future__ import annotations

import math

from ninefold.diff.conditions import relation
from ninefold.diff.domains import Domains
from ninefold.diff.normal import Words, expression, reads_expressions
from ninefold.diff.verdicts import Direction
from ninefold.expressions.ast import Ast, Binary, Conditional, Const, Literal, Member, Name, Unary, parts
from ninefold.language import quantities
from ninefold.language.key import Key
from ninefold.language.leaves import words_of
from ninefold.language.reading import Reading, Slot
from ninefold.language.table import keys_under
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, is_word


def direction(
    key: Key,
    old: Node,
    new: Node,
    documents: tuple[Document, Document],
    words: tuple[Words, Words],
    known: Domains,
) -> Direction:
    """From an old value to a new one, which are not the same. `known`: which values something has that they read."""
    match key.order:
        case "more" | "less":
            before, after = amount(key, old, documents[0]), amount(key, new, documents[1])
            if before is None or after is None or before == after:
                return "other"
            return "more" if (after > before) is (key.order == "more") else "less"
        case "words":
            said = words_of(key.shape)
            if isinstance(old, Scalar) and isinstance(new, Scalar) and {old.text, new.text} <= {*said}:
                return "more" if said.index(new.text) > said.index(old.text) else "less"
            return "other"
        case "sequence" | "steps" | "other":
            return "other"
        case "choice":
            return "unproved"
    if reads_expressions(key.shape) and isinstance(old, Scalar) and isinstance(new, Scalar):
        return _of_expressions(key, words[0].read(old.text), words[1].read(new.text), known)
    return "other"


def _of_expressions(key: Key, old: Ast | None, new: Ast | None, known: Domains) -> Direction:
    if old is None or new is None:
        return "other"  # one of them is no expression but a constant: what is read of `const` is what it says
    if key.narrows:
        return relation(old, new, known)
    return "other" if differ(old, new) else "unproved"


def differ(old: Ast, new: Ast) -> bool:
    """Whether two expressions surely have other values sometimes: where they differ, something that is read, or
    written, stands against something else."""
    if expression(old) == expression(new):
        return False
    if _is_plain(old) and _is_plain(new):
        return True
    if type(old) is not type(new) or len(parts(old)) != len(parts(new)):
        return False
    if isinstance(old, Binary | Unary) and isinstance(new, Binary | Unary) and old.operator != new.operator:
        return False
    if isinstance(old, Conditional) and isinstance(new, Conditional):
        return differ(old.yes, new.yes) or differ(old.no, new.no)
    return any(differ(one, other) for one, other in zip(parts(old), parts(new), strict=True))


def _is_plain(ast: Ast) -> bool:
    """A constant, or something that is read as it is."""
    match ast:
        case Literal() | Const() | Name():
            return True
        case Member(operand=operand):
            return _is_plain(operand)
        case _:
            return False


def amount(key: Key, node: Node, document: Document) -> float | None:
    """A number, a length of time or a size; without an end where there is none of it. None: it is no amount."""
    if not isinstance(node, Scalar):
        return None
    if node.says("none") or node.says("all"):
        return math.inf
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    reading, slot = Reading(document, False, keys_under), Slot("", key.shape)
    return quantities.wait(reading, node, slot) if node.text.startswith("P") else quantities.size(reading, node, slot)


def line_of(key: Key, document: Document) -> Node | None:
    """What stands at the line that holds instead of a key; None: nothing, or it is no line of its own."""
    if key.line is None:
        return None
    part, path = key.line
    node: Node = document.parts[part - 1].facts
    for name in path.split("."):
        entry = node.get(name) if isinstance(node, Mapping) else None
        if entry is None or entry.proposed:
            return None
        node = entry.value
    return None if is_word(node, "not shown") else node
