"""What refuses requests is held to the derivation in every test (`tests/refusals_met.py`): here, that this sees it."""

from __future__ import annotations

import pytest
from tests import refusals_met

from ninefold.language.conditions import Step
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.trace.refusal import Refusal

SAID = frozenset(
    {
        Refusal("conflict", Step.JUDGED, "order.number"),
        Refusal("not found", Step.JUDGED, "order"),
        Refusal("check", Step.JUDGED, "order", "empty"),
    }
)


@pytest.mark.parametrize(
    ("failure", "derived"),
    [
        (Failure("not found", "order"), True),
        (Failure("not found"), True),
        (Failure("conflict", "order.number"), True),
        (Failure("check", "order", "empty"), True),
        (Failure("precondition failed", "order"), False),
        (Failure("not found", "customer"), False),
        (Failure("check", "order", "late"), False),
        (Failure("check", "order"), False),
        (Failure("conflict", "order.note"), False),
    ],
)
def test_a_refusal_that_was_not_said_is_seen(failure: Failure, derived: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint("GET /orders/{id}", blocked=False)
    monkeypatch.setitem(refusals_met._derived, id(endpoint), (endpoint, SAID))
    assert refusals_met.is_derived(failure, endpoint) is derived
