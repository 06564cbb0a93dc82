"""An identifier comes from anywhere: from a header, from a letter, from somebody who tries things out."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts import SERVED, compiled, contract_of
from tests.slices import some

from ninefold.language.conditions import STATUSES
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.pickled import dumps
from ninefold.plan.service import ServicePlan
from ninefold.trace.attribution import attribution, of_trace
from ninefold.trace.causes import Stated
from ninefold.trace.identifier import (
    HEADER,
    LONGEST,
    MOST_NAMES,
    MOST_REFUSALS,
    NotATrace,
    Refused,
    Trace,
    digest,
    outcome_number,
    read,
    write,
)
from ninefold.upgrade.shape import encode_shape

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders.md"


def planned(loaded: Loaded) -> ServicePlan:
    assert loaded.plan is not None
    return loaded.plan


def plan_of(data: bytes, name: str = "orders.md") -> ServicePlan:
    return planned(compile_document(name, data))


PLAN = planned(compiled(EXAMPLE))
DIGEST = digest(PLAN)

NUMBERS = st.integers(-2, 60) | st.integers(-(2**63), 2**63 - 1)
RULES = st.sampled_from(["", "pattern", "required", "unknown", "type", "maxLength"]) | st.text(max_size=12)
REFUSED = st.builds(
    Refused, NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["", "body", "query", "header", "path"]), NUMBERS, RULES
)
TRACES = st.builds(
    Trace,
    version=NUMBERS,
    route=NUMBERS,
    admission=NUMBERS,
    outcome=st.integers(0, 5),
    status=st.sampled_from([200, 204, 304, 401, 404, 422, 501]),
    headers=st.integers(0, 2**40),
    end=NUMBERS,
    refusals=st.lists(REFUSED, max_size=3).map(tuple),
    others=st.lists(st.text(max_size=10), max_size=2).map(tuple),
    head=st.booleans(),
)


@given(st.text(max_size=200) | st.text(alphabet="1.abcXYZ09-_", max_size=80))
def test_what_is_no_identifier_is_refused(text: str) -> None:
    with pytest.raises(NotATrace):
        read(text, DIGEST)


@given(TRACES)
def test_what_names_no_node_is_refused_and_what_names_one_is_told(trace: Trace) -> None:
    text = write(DIGEST, trace)
    assert read(text, DIGEST) == trace
    try:
        found = of_trace(PLAN, trace)
    except NotATrace:
        return
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for cause in found.causes:
        assert not isinstance(cause, Stated) or lines[cause.place.line - 1].strip()


def test_an_identifier_is_never_long() -> None:
    refused = Refused(11, 63, 63, "header", 63, "unevaluatedProperties", 63, 63)
    trace = Trace(
        9,
        999,
        9,
        2,
        422,
        2**64 - 1,
        1,
        (refused,) * MOST_REFUSALS,
        ("access-control-allow-credentials",) * MOST_NAMES,
        True,
        True,
    )
    assert len(write(DIGEST, trace)) <= LONGEST


def test_the_header_may_come_with_its_name() -> None:
    text = write(DIGEST, Trace(0, 0, 0, outcome_number("answered"), 201))
    assert attribution(PLAN, f"  {HEADER.lower()}: {text}\n") == attribution(PLAN, text)


def test_another_contract_is_another_plan_and_another_name_is_not() -> None:
    data = EXAMPLE.read_bytes()
    assert digest(plan_of(data, "other.md")) == DIGEST
    moved = plan_of(data.replace(b"## 1.", b"\n## 1.", 1))
    text = write(DIGEST, Trace(0, 0, 0, 0, 201))
    with pytest.raises(NotATrace, match="by another contract, by another state of this one"):
        attribution(moved, text)


def test_a_character_that_is_missing_is_noticed() -> None:
    text = write(DIGEST, Trace(0, 0, 0, 0, 201))
    for at in range(2, len(text)):
        with pytest.raises(NotATrace):
            attribution(PLAN, text[:at] + text[at + 1 :])
    with pytest.raises(NotATrace, match="another version of ninefold"):
        attribution(PLAN, "1" + text[1:])


def test_a_stream_has_its_causes() -> None:
    number = next(number for number, each in enumerate(PLAN.routes) if each.key == "GET /events")
    found = of_trace(PLAN, Trace(0, number, 0, outcome_number("answered"), 200))
    [member] = found.members
    assert member.path == () and member.whole and member.causes and member.value
    assert "transfer-encoding" in [each.name for each in found.headers]


def test_an_identifier_of_each_condition_is_told() -> None:
    for number, condition in enumerate(STATUSES):
        trace = Trace(0, 3, -1, outcome_number("refused"), 400, refusals=(Refused(number, 0),))
        if condition == "too many requests":
            assert of_trace(PLAN, trace).refusals[0].causes


@pytest.mark.long
def test_every_plan_has_a_digest() -> None:
    """A plan is data that JSON holds: the same contract gives the same bytes."""
    root = Path(__file__).parents[2]
    for path in some(sorted([*root.glob("examples/*.md"), *root.glob("tests/cases/*/contract.md")]), 6):
        plans = [compiled(path).plan, compile_document(path.name, path.read_bytes()).plan]
        assert len({digest(plan) for plan in plans if plan is not None}) <= 1, path


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 8), ids=lambda each: each.name)
def test_another_process_knows_a_plan_by_the_same_digest(directory: Path) -> None:
    plan = compiled(contract_of(directory)).plan
    assert plan is not None
    taken: ServicePlan = pickle.loads(dumps(plan))
    assert taken == plan
    assert digest(taken) == digest(plan)
    assert encode_shape(taken.schema) == encode_shape(plan.schema)
