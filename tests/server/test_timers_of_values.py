"""A timer whose transition would store what is not as its field says waits, and goes once it would be."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.server.test_timers import LOANS, Hands, lending

pytestmark = pytest.mark.serves

GIVEN = "fee: loan.fee + 10"

STATED: dict[str, tuple[dict[str, str], int, int]] = {
    "an error": ({"fee": "60 / loan.fee"}, 0, 2),
    "beyond the schema": ({"fee": "loan.fee + 60"}, 50, 5),
    "an error of another field": ({"note": "'x'.substring(loan.fee - 1)"}, 3, 1),
    "beside what can be made": ({"fee": "3", "note": "string(9223372036854775807 * loan.fee)"}, 2, 1),
    "a required field without a value": ({"item": "loan.fee == 7 ? null : loan.item"}, 7, 1),
    "beyond the schema on the way": ({"fee": "loan.fee == 7 ? loan.fee + 94 : 1"}, 7, 1),
}
"""What a timer gives, a fee with which that cannot be stored, and one with which it can."""


@pytest.mark.parametrize("case", STATED)
def test_a_timer_waits_for_values_that_fit(case: str, tmp_path: Path) -> None:
    facts, wrong, right = STATED[case]
    sets = ", ".join(f"{name}: {json.dumps(expression)}" for name, expression in facts.items())
    assert GIVEN in LOANS
    hands = Hands()
    with lending(tmp_path, hands, LOANS.replace(GIVEN, sets)) as service:
        waits, goes = service.lend("tent", fee=wrong, kept=True), service.lend("canoe", fee=right, kept=True)
        hands.move(hours=1)
        assert (service.state(waits), service.state(goes)) == ("out", "late")
        assert service.http.get(waits).json()["fee"] == wrong, "nothing of it is done"
        begun = service.service.database.statistics().works
        time.sleep(0.5)
        assert service.service.database.statistics().works - begun <= 3, "it does not spin"
        assert service.http.patch(waits, json={"fee": right}, headers=MERGE).status_code == 200
        assert service.state(waits) == "late"


MERGE = {"Content-Type": "application/merge-patch+json"}


def test_a_timer_waits_for_what_the_database_takes(tmp_path: Path) -> None:
    text = LOANS.replace(GIVEN, f"note: {' + '.join(['loan.item'] * 20)}")
    hands = Hands()
    with lending(tmp_path, hands, text) as service:
        waits, goes = service.lend("x" * 900_000, kept=True), service.lend("tent", kept=True)
        hands.move(hours=1)
        assert (service.state(waits), service.state(goes)) == ("out", "late")
