"""How two values can stand to one another: all ways that comparisons, and what is asked of texts, tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from ninefold.diagnostics.frozen import dataclass

_IS_IN: Final = "contains"
_BEGINS: Final = "startsWith"
_ENDS: Final = "endsWith"

TEXTS: Final = (_IS_IN, _BEGINS, _ENDS)
"""Functions of a text and one that may be in it."""

OF_THE_OTHER: Final = {each: f"{each} of the other" for each in TEXTS}
"""The same where the first one is in the second one."""

_ORDERED: Final = {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


@dataclass(frozen=True, slots=True)
class Beside:
    """`order`: less than 0 where the first one is less, 0 where they are equal. None: one of them has no value, or
    neither has (`are_equal`), and then nothing else holds of them. `texts`: what holds of two texts."""

    order: int | None
    texts: frozenset[str] = frozenset()
    are_equal: bool = False

    def holds(self, operator: str) -> bool | None:
        """None: it has no value."""
        if self.order is not None:
            return self.order in _ORDERED[operator] if operator in _ORDERED else operator in self.texts
        return self.are_equal is (operator == "==") if operator in ("==", "!=") else None


def stand(is_there: bool, other_is_there: bool, *, texts: bool) -> Iterator[Beside]:
    """All ways. `is_there`: the first one always has a value. `texts`: functions of texts are asked, too."""
    for order in (-1, 0, 1):
        yield from (Beside(order, each) for each in (_of_texts(order) if texts else (frozenset[str](),)))
    if not (is_there and other_is_there):
        yield Beside(None)
    if not (is_there or other_is_there):
        yield Beside(None, are_equal=True)


def _of_texts(order: int) -> Iterator[frozenset[str]]:
    """A text begins, and ends, with itself; one that begins with another one is more than that."""
    if order == 0:
        yield frozenset((*TEXTS, *OF_THE_OTHER.values()))
        return
    yield frozenset()
    for of_other, begins, ends in product((False, True), repeat=3):
        if not begins or (order < 0) is of_other:
            held = [name for name, holds in ((_IS_IN, True), (_BEGINS, begins), (_ENDS, ends)) if holds]
            yield frozenset(OF_THE_OTHER[each] if of_other else each for each in held)
