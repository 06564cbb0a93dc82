"""A row that is shown within another looks, byte for byte, as it does alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.http_cases import serving
from tests.slices import examples

from ninefold.pipeline import load

CONTRACT = Path(__file__).parent.parent / "cases" / "shelves-that-show-their-items" / "contract.md"

TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ITEM = st.fixed_dictionaries(
    {"name": TEXT, "price": NUMBER},
    optional={
        "open": st.none() | st.booleans(),
        "note": st.none() | TEXT,
        "more": st.dictionaries(TEXT, JSON, max_size=3),
        "tags": st.lists(TEXT, max_size=3),
        "parts": st.lists(
            st.fixed_dictionaries({"k": TEXT}, optional={"n": st.integers(-(2**63), 2**63 - 1)}), max_size=3
        ),
    },
)


@pytest.mark.serves
def test_a_row_within_another_looks_as_it_does_alone(tmp_path: Path) -> None:
    plan = load(str(CONTRACT)).plan
    assert plan is not None
    with serving(plan, tmp_path / "service.db", {}) as client:
        client.post("/people", json={"name": "Ann"})

        @settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(st.lists(ITEM, min_size=1, max_size=4))
        def every_item(items: list[dict[str, object]]) -> None:
            shelf = client.post("/shelves", json={"label": "one"}).json()["id"]
            for number, item in enumerate(items):
                maker = {"maker": 1} if number % 2 else {}
                assert client.post("/items", json={**item, **maker, "shelf": shelf}).status_code == 201
            whole = client.get(f"/shelves/{shelf}")
            shown = whole.json()["shelf"]["items"]
            assert len(shown) == len(items)
            alone = [client.get(f"/items/{each['id']}").text for each in shown]
            assert f'"items":[{",".join(alone)}]' in whole.text

        every_item()
