"""Whether a value is one of many, in time in proportion to the value, however many they are.

The values are kept as a tree: a value is read part by part, each part leads to those values that begin alike, and where
none does it is given up. So no more of a value is looked at than the longest of them has parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, TypeAlias

AMONG: Final = "ninefold:among"
"""The keyword in the place of `enum`, where a validator would compare with one value after another."""

FEW: Final = 8
"""Values without parts that are compared as quickly as they are looked up."""

_TELLING: Final = frozenset({"title", "description", "examples", "deprecated", "$comment"})
"""Keywords that say something to people (JSON Schema validation, 9), as a value of a list often has them."""

_Tree: TypeAlias = dict[Hashable, "_Tree"]


def is_dear(values: Sequence[Any]) -> bool:
    """Whether a validator would take longer the more values there are: it looks up texts and numbers, where all are of
    one kind."""
    kinds = set(map(type, values))
    if kinds & {dict, list}:
        return True
    return len(values) > FEW and kinds != {str} and not kinds <= {int, float}


def alternatives(schemas: Sequence[Any]) -> list[Any] | None:
    """The values that schemas admit of which each says values alone (`anyOf`, `oneOf`), where no two are equal; None:
    one of them says something else."""
    values: list[Any] = []
    for schema in schemas:
        rules = schema.keys() - _TELLING if isinstance(schema, dict) else set()
        if rules != {"const"} and rules != {"enum"}:
            return None
        values += [schema["const"]] if "const" in rules else schema["enum"]
    return values if len({tuple(_parts(each)) for each in values}) == len(values) else None


class Among:
    """The keyword, with the values that are admitted."""

    def __init__(self, _parent: object, values: Sequence[Any], _path: object) -> None:
        self._tree: _Tree = {}
        for value in values:
            tree = self._tree
            for part in _parts(value):
                tree = tree.setdefault(part, {})

    def validate(self, value: object) -> None:
        """Raises ValueError where it is none of them."""
        tree = self._tree
        for part in _parts(value):
            found = tree.get(part)
            if found is None:
                raise ValueError("it is none of them")
            tree = found


def _parts(value: Any) -> Iterator[Hashable]:
    """The parts of a value, each before what is inside it and members in the order of their names: the same for values
    that are equal (JSON Schema core, 4.2.2: numbers by their mathematical value), and of no two others does one begin
    with the other. Of what is not asked for, nothing is looked at."""
    if type(value) is dict:
        yield dict, len(value)
        for name in sorted(value):
            yield name
            yield from _parts(value[name])
    elif type(value) is list:
        yield list, len(value)
        for each in value:
            yield from _parts(each)
    else:
        yield bool if type(value) is bool else None, value
