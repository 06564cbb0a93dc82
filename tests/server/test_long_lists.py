"""What is shown of many rows is encoded by many calls of the encoder, during each of which nobody else is answered."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from ninefold.plan.responses import Content, EachOf, EachRow, FromColumn, ObjectOf
from ninefold.plan.statement import ResultColumn
from ninefold.runtime.messages.encode import FEW, NO_ROW, PIECE_BYTES, show
from ninefold.values import Array, Integer, Text

COLUMNS = (ResultColumn("n", Integer()), ResultColumn("t", Text()))
N, T = FromColumn(0, null_shown=True), FromColumn(1)

ITEMS: dict[str, tuple[Content, Any]] = {
    "as they stand": (ObjectOf((("t", T), ("n", N))), lambda n, t: {"t": t, "n": n}),
    "of all columns": (ObjectOf((("n", N), ("t", T))), lambda n, t: {"n": n, "t": t}),
    "made one by one": (ObjectOf((("o", ObjectOf((("n", N),))),)), lambda n, t: {"o": {"n": n}}),
    "values": (T, lambda n, t: t),
    "left out here and there": (ObjectOf((("t", T),), present=0), lambda n, t: None if n is None else {"t": t}),
}


class Taken(list[Any]):
    """Rows, of which is known how many were taken at once."""

    def __init__(self, rows: list[Any]) -> None:
        super().__init__(rows)
        self.slices: list[slice] = []

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            self.slices.append(at)
        return super().__getitem__(at)


@pytest.mark.parametrize("size", [0, 1, FEW, FEW + 1, 3 * FEW, 5_000])
@pytest.mark.parametrize(("item", "meant"), ITEMS.values(), ids=ITEMS)
def test_a_list_is_what_each_row_shows(item: Content, meant: Any, size: int) -> None:
    rows: list[Any] = [(None if n % 3 or n < 2 * FEW else n, f'"{n}"' * (n % 7 * 40)) for n in range(size)]
    shown = msgspec.json.decode(msgspec.json.encode(show(EachRow(item), (), COLUMNS)(NO_ROW, rows, {})))
    assert shown == [meant(*row) for row in rows]
    within = show(EachOf(0, COLUMNS, item), (ResultColumn("within", Array(items=Text())),))
    stored = msgspec.json.encode(rows).decode()
    items = msgspec.json.decode(msgspec.json.encode(within((stored,), (), {})))
    assert items == [each for row in rows if (each := meant(*row)) is not None]


@pytest.mark.parametrize("item", [each for each, _ in ITEMS.values()], ids=ITEMS)
@pytest.mark.parametrize("length", [1, 3_000, PIECE_BYTES])
def test_of_many_rows_so_many_are_encoded_at_once_as_are_no_long_piece(item: Content, length: int) -> None:
    rows = Taken([(n, "é" * length) for n in range(200 if length == PIECE_BYTES else 20_000)])
    show(EachRow(item), (), COLUMNS)(NO_ROW, rows, {})
    each = len(msgspec.json.encode(show(item, COLUMNS)(rows[0], (), {})))
    assert [taken.start for taken in rows.slices] == [0, *(taken.stop for taken in rows.slices[:-1])]
    assert rows.slices[-1].stop >= len(rows)
    for taken in rows.slices[1:]:
        assert taken.stop - taken.start <= max(1, 2 * PIECE_BYTES // each)
    assert all(after.stop - after.start <= 4 * (taken.stop - taken.start) for taken, after in pairwise(rows.slices))
