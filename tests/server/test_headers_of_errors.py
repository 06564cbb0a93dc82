"""The headers that part 7 gives errors: what is left out is told in the log, and all are told of."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import compiled
from tests.http_cases import serving

from ninefold.tools.explain import render
from ninefold.tools.explain.service import explain_service
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

CASE = Path(__file__).parent.parent / "cases" / "errors-with-headers-of-their-own" / "contract.md"


@pytest.mark.serves
def test_what_is_no_field_value_is_told_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = compiled(CASE).plan
    assert plan is not None
    patch = {"Content-Type": "application/merge-patch+json"}
    with serving(plan, tmp_path / "tickets.db", {}) as client:
        for seat, note in (("A1", "a\x01b"), ("A2", " a"), ("A3", "a b")):
            client.post("/tickets", json={"seat": seat, "note": note})
            client.patch(f"/tickets/{seat}/buyer", content='{"buyer": "Ada"}', headers=patch)
            refused = client.patch(f"/tickets/{seat}/buyer", content='{"buyer": "Bob"}', headers=patch)
            assert refused.status_code == 409
            assert refused.headers["Location"] == f"/tickets/{seat}/sale"
            assert ("X-Note" in refused.headers) == (seat == "A3")
    told = [each.getMessage() for each in caplog.records if "X-Note" in each.getMessage()]
    assert told == ["the header X-Note of the error sold is left out: its value is no field value"] * 2


def test_every_telling_has_them() -> None:
    loaded = compiled(CASE)
    assert loaded.plan is not None and loaded.checked is not None
    described = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    answers = described["paths"]["/tickets/{ticket_seat}/buyer"]["patch"]["responses"]["409"]
    assert {"Location", "X-Note", "X-Rule"} <= set(answers["headers"])
    assert not any(each["required"] for each in answers["headers"].values())
    explained = render.to_text(explain_service(loaded))
    assert "headers:" in explained and "'/tickets/' + ticket.seat + '/sale'" in " ".join(explained.split())
