"""Errors are explained in the order in which the service tells them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.cli import main

CONTRACT = """\
## 2. Resources and their fields

```yaml
seat:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    name: {type: string, unique: true}
    row:  {type: integer}
  required: [name, row]
  check: {that: seat.row > 0, else: nowhere}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /seats: {does: create seat, body: [name, row], responses: {201: seat}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes: {nowhere: {status: 409}, taken: {status: 409, for: conflict}}
precedence: [check, conflict]
```
"""


@pytest.mark.serves
def test_an_invariant_is_told_where_nothing_else_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "seats.md"
    path.write_text(CONTRACT, encoding="utf-8")
    plan = plan_of(CONTRACT)
    with serving(plan, tmp_path / "service.db", {}) as client:
        assert client.post("/seats", json={"name": "a", "row": 1}).status_code == 201
        # Nobody knows what the row would have become that cannot be there beside the other one (meaning "before and
        # after").
        assert client.post("/seats", json={"name": "a", "row": 0}).json() == {"code": "taken"}
        assert client.post("/seats", json={"name": "b", "row": 0}).json() == {"code": "nowhere"}
    assert main(["explain", str(path), "POST /seats"]) == 0
    told = capsys.readouterr().out
    assert told.index("409 `taken`") < told.index("409 `nowhere`")
