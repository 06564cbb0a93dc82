"""What was probably meant by a value that is none of what it should be: first of all `none` and `not shown`, whichever
way they are written; no advice by letters may lead from these to a word that says something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import says_nothing
from ninefold.language.shapes import (
    Boolean,
    Expression,
    JSONSchema,
    ListOf,
    MappingOf,
    Members,
    Name,
    Names,
    OneOf,
    Shape,
    Template,
)
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence, Style, is_word

_OPEN: Final = frozenset(("notshown", "notknown", "undecided", "tbd", "tobedecided", "?", "??", "???"))
"""What people write where something is not decided, without spaces, hyphens and underscores. `todo` is none of these:
many contracts have a resource of that name."""

_LONGEST: Final = 20
"""Letters of a value that may be one of these: others need not be looked at."""

_TRUTHS: Final = frozenset(("no", "false"))

_TYPES: Final = frozenset(("string", "integer", "number", "boolean", "array", "object"))
"""The types of JSON Schema (core, 4.2.1) but `null`."""

_FORMATS: Final = frozenset(("uuid", "date-time", "date", "time", "email", "uri", "hostname"))
"""Formats of JSON Schema (validation, 7.3) that others have as types."""


def slips(node: Node, shape: Shape, none: str) -> Iterator[tuple[Span, str]]:
    """Where a value is nearly `none` or `not shown`, and what helps. `none`: the word for it there, `""` if there is
    none; where a truth value may stand, `false` is an answer of its own."""
    alone = isinstance(node, Sequence) and len(node.items) == 1
    each = node.items[0] if isinstance(node, Sequence) and alone else node
    if not isinstance(each, Scalar) or len(each.text) > _LONGEST or (not alone and is_word(node, none)):
        return
    how = ", without brackets" if alone else "" if each.style is Style.PLAIN else ", without quotes"
    letters = "".join(each.text.casefold().replace("-", " ").replace("_", " ").split())
    if letters in _OPEN:
        how = how or ", in small letters and with one space" * (letters == "notshown")
        yield each.span, f"where it is not decided yet, write `not shown`{how}"
    elif none and says_nothing(each.text) and not (_is_truth(shape) and each.text.casefold() in _TRUTHS):
        yield each.span, f"where there is none, write `{none}`{how}"


def _is_truth(shape: Shape) -> bool:
    if isinstance(shape, OneOf):
        return any(map(_is_truth, shape.shapes))
    return isinstance(shape, Boolean | Expression | Template)


def meant(node: Node, shape: Shape) -> tuple[str, ...]:
    """The help where a value has another shape than it should: what it was probably meant to say."""
    if isinstance(node, Sequence) and isinstance(shape, Name) and len(node.items) == 1:
        item = node.items[0]
        return (f"write `{item.text}`, without brackets",) if isinstance(item, Scalar) else ()
    if isinstance(node, Sequence) and isinstance(shape, Members | MappingOf) and node.items:
        dashes = all(isinstance(item, Mapping) for item in node.items)
        return ("these are keys, and no items of a list: leave out the dashes",) if dashes else ()
    if isinstance(shape, Names) and not isinstance(node, Sequence):
        listed = [each.name for each in node.entries] if isinstance(node, Mapping) else [node.text]
        named = all(each.isidentifier() and each not in ("true", "false") for each in listed)
        return (f"write a list of names: `[{', '.join(listed[:8]) if named else 'NAME'}]`",)
    if isinstance(node, Mapping) and isinstance(shape, ListOf) and isinstance(shape.item, Members):
        return ("a list of one stands in brackets: `[{…}]`",)
    if not isinstance(node, Scalar) or not isinstance(shape, Members | JSONSchema | MappingOf):
        return ()
    if node.text in _TYPES:
        return (f"write `{{type: {node.text}}}`",)
    if node.text in _FORMATS:
        return (f"write `{{type: string, format: {node.text}}}`",)
    return ()
