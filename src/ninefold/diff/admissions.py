"""Whom a line of permissions, or a row rule, admits in one contract and in another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.alone import Both
from ninefold.diff.conditions import relation
from ninefold.diff.domains import Domains
from ninefold.diff.normal import Words
from ninefold.diff.verdicts import Direction
from ninefold.expressions.ast import Ast, Literal
from ninefold.language.authentication import ALL, ANYONE
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded
from ninefold.syntax.nodes import Mapping as MappingNode
from ninefold.syntax.nodes import Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class Cell:
    """What becomes of one kind of caller."""

    who: str
    direction: Direction
    said: str


Admitted: TypeAlias = Mapping[str, tuple[Ast | None, str]]
"""Who is admitted, under which condition (None: always), as it is written."""


def admitted(node: Node | None, words: Words, schemes: Collection[str]) -> Admitted:
    match node:
        case None:
            return {}
        case Scalar() if node.says("none") or node.says("not shown"):
            return {}
        case Scalar() if node.says(ALL):
            return dict.fromkeys((*schemes, ANYONE), (None, "true"))
        case Scalar():
            return {node.text: (None, "true")}
        case Sequence(items=items):
            return {who: found for item in items for who, found in admitted(item, words, schemes).items()}
        case MappingNode(entries=entries):
            found: dict[str, tuple[Ast | None, str]] = {}
            for entry in entries:
                value = entry.value
                if isinstance(value, Scalar) and not (value.says("false") or value.says("none")):
                    text = value.text
                    found[entry.name] = (None if value.says("true") else words.read(text) or _never(), text)
            return found


def _never() -> Ast:
    return Literal(False, 0, 0)


def cells(old: Admitted, new: Admitted, known: Domains) -> Iterator[Cell]:
    """What differs, caller by caller. Whom `anyone` admits, it admits with any credential."""
    for who in dict.fromkeys((*old, *new)):
        before, after = old.get(who, old.get(ANYONE)), new.get(who, new.get(ANYONE))
        if before is None and after is not None:
            yield Cell(who, "more", f"{who}: {after[1]}, and was not admitted")
        elif after is None and before is not None:
            yield Cell(who, "less", f"{who} is not admitted any more (was: {before[1]})")
        elif before is not None and after is not None:
            found = relation(before[0], after[0], known)
            if found != "same":
                yield Cell(who, found, f"{who}: {after[1]} (was: {before[1]})")


def schemes_of_both(both: Both) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _schemes(both.old), _schemes(both.new)


def _schemes(loaded: Loaded) -> tuple[str, ...]:
    return tuple(each.name for each in value_of(loaded.contract.authentication.schemes) or ())
