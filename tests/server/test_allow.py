"""What a path allows is told with `method not allowed`, whatever the status of its code, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

pytestmark = pytest.mark.serves

CONTRACT = """\
purpose: Tells the time.
resources: {note: {primary key: id, fields: {id: {type: integer, on create: serial()}}}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /time: {does: compute, responses: {200: {now: now}}}
authentication: {schemes: none, rows: all, permissions: {GET /time: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    no_method: {status: STATUS, for: method not allowed}
    other: {status: 400, for: [no such path, not acceptable]}
limits: {rates: none, timeout: none}
versioning: none
"""


@pytest.mark.parametrize("status", [401, 403, 404, 405, 501])
def test_what_a_path_allows_is_told_with_its_condition(status: int, tmp_path: Path) -> None:
    plan = plan_of(CONTRACT.replace("STATUS", str(status)), "time.yaml")
    with serving(plan, tmp_path / "time.db", {}) as client:
        answer = client.put("/time")
        assert (answer.status_code, answer.json()) == (status, {"code": "no_method"})
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
        assert "allow" not in client.get("/time", headers={"Accept": "text/html"}).headers
