from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ninefold.diagnostics.source import Span, Spans

SPANS = st.tuples(st.integers(0, 12), st.integers(0, 5)).map(lambda each: Span(each[0], each[0] + each[1]))


@given(st.lists(SPANS, max_size=8), SPANS)
def test_of_many_stretches_those_meet_that_meet_one_by_one(spans: list[Span], asked: Span) -> None:
    each = [number for number, span in enumerate(spans) if asked.meets(span)]
    assert Spans(spans).meeting(asked) == each
    assert Spans(spans).meet(asked) == bool(each)
