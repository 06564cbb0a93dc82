"""What several statements bind is the same by column as one after the other, whatever their environments lack; and so
is what is kept of it for whoever asks again."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import examples

from ninefold.expressions.binds import binder, but_one, by_column, together, together_again
from ninefold.expressions.tree import Constant, Select, Typed, Variable
from ninefold.values import Boolean, Integer, Object, Text

NEW: Final = Variable("new", Object(members={"a": Text(), "b": Integer(), "is": Boolean()}))
WRITE: Final = Variable("write", Object(members={"revision": Text()}))
BINDS: Final[tuple[Typed, ...]] = (
    Select(NEW, "a", Text()),
    Select(NEW, "b", Integer()),
    Select(NEW, "is", Boolean()),
    Select(WRITE, "revision", Text()),
    Constant(7, Integer()),
)
ROOTS: Final[st.SearchStrategy[Any]] = st.one_of(
    st.none(),
    st.just("no row"),
    st.just([]),
    st.fixed_dictionaries({}, optional={"a": st.one_of(st.text(), st.just({}), st.just([]), st.none())}),
    st.fixed_dictionaries({"a": st.text(), "b": st.integers(), "is": st.booleans(), "revision": st.text()}),
)
ENVIRONMENTS: Final = st.lists(st.fixed_dictionaries({}, optional={"new": ROOTS, "write": ROOTS}), max_size=5)


@settings(max_examples=examples(200))
@given(ENVIRONMENTS)
def test_columns_are_the_rows_turned(environments: list[dict[str, Any]]) -> None:
    binds = [(each, binder(each)) for each in BINDS]
    row, columns = together(binds), by_column(binds)(environments)
    assert len(columns) == len(BINDS)
    assert [list(each) for each in zip(*columns, strict=True)] == [row(each) for each in environments]


@settings(max_examples=examples(200))
@given(ENVIRONMENTS, st.data())
def test_whoever_asks_again_binds_the_same(environments: list[dict[str, Any]], data: st.DataObject) -> None:
    binds = [(each, binder(each)) for each in BINDS]
    again, once = together_again(binds, "new"), together(binds)
    for each in environments:
        # Others come between requests of one, whose root is the very same then.
        assert [again(one) for one in (each, {**each, "write": {}})] == [
            once(one) for one in (each, {**each, "write": {}})
        ]


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(BINDS), max_size=4), ROOTS, st.text())
def test_what_changes_alone_is_bound_in_its_place(chosen: list[Typed], written: Any, value: str) -> None:
    binds = [(each, binder(each)) for each in chosen]
    found = but_one(binds, "new", "a", {"new"})
    assert (found is not None) is ([each for each in chosen if each in BINDS[:3]] == [BINDS[0]])
    if found is not None:
        assert found({"write": written})(value) == together(binds)({"write": written, "new": {"a": value}})
