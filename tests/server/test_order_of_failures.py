"""In which order the rules are told that a request breaks, and whom a taken value is told of (meanings "precedence" and
"errors")."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Notes

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
note:
  primary key: id
  fields:
    id:    {type: string, format: uuid, on create: uuid()}
    slug:  {type: string, unique: true, on create: slug(note.title)}
    size:  {type: integer, minimum: 1}
    title: {type: string, minLength: 3}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /notes:
  does: create note
  query: {dry: {type: boolean}}
  body: [title, size]
  check: {that: "!request.query.dry", else: dry}
  responses: {201: none}
```

"""
    + CALLERS_AND_EVENTS
    + """## 7. Errors

```yaml
error shape:
  media type: application/json
  body: {code: error.code, fields: "error.fields.map(f, f.place + f.pointer)"}
codes:
  dry:     {status: 409}
  invalid: {status: 422, for: invalid}
  taken:   {status: 409, for: conflict}
```
"""
    + LIMITS_AND_VERSIONS
)


def test_parameters_come_first_and_a_body_in_its_own_order(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", CONTRACT) as service:
        answer = service.http.post("/notes?dry=maybe&x=1", json={"extra": 1, "size": 0, "title": "a"})
        assert answer.json()["fields"] == ["query/x", "query/dry", "body/title", "body/size", "body/extra"]
        made = [service.http.post("/notes?dry=false", json={"title": title}) for title in ("One day", "one day!")]
    assert [each.status_code for each in made] == [201, 409]
    assert made[1].json() == {"code": "taken", "fields": []}, "the body gave what it is made of, and not the value"
