"""What an event is told to be about is what SQL compares it with, over either database: a number has one text there."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws.databases import EACH, Table, asked
from tests.laws.worlds import TEXTS
from tests.slices import examples

from ninefold.runtime.operations.events import subject
from ninefold.sql.dialect import Dialect
from ninefold.sql.events import WIDEST
from ninefold.sql.fragment import Fragment, column
from ninefold.values import Boolean, Integer, Number, Text, Type

OF: Final[dict[type[Type], st.SearchStrategy[Any]]] = {
    Boolean: st.booleans(),
    Integer: st.integers(-(2**63), 2**63 - 1),
    Number: st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    Text: TEXTS,
}
KEYS: Final[list[tuple[Type, ...]]] = [
    (Number(),),
    (Boolean(),),
    (Text(),),
    (Number(), Text()),
    (Integer(), Boolean(), Number()),
    (Number(),) * (WIDEST + 1),
]


@EACH
@pytest.mark.parametrize("key", KEYS, ids=lambda key: "+".join(type(each).__name__ for each in key))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_it_is_the_same_text(dialect: Dialect, key: tuple[Type, ...], data: st.DataObject) -> None:
    values = data.draw(st.tuples(*(OF[type(each)] for each in key)))
    types = {f"k{number}": type_ for number, type_ in enumerate(key)}
    table = Table(
        "keyed" + "".join(type(each).__name__[0] for each in key), types, [dict(zip(types, values, strict=True))]
    )
    cells = [column(table.name, name) for name in types]
    [identifier] = asked(dialect, [table], dialect.array_of(cells, key), {}, {}, f'FROM "{table.name}"')
    written = Table("written", {"of": Text()}, [{"of": identifier}])
    [about] = asked(dialect, [written], Fragment(dialect.about("of", len(key))), {}, {}, 'FROM "written"')
    assert subject(identifier) == about
