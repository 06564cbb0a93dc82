"""`type(x) == list` and its like: the same of the request in Python and of rows in SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.diagnostics.diagnostic import Severity
from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

NAMES = ("bool", "int", "double", "string", "list", "map", "null_type")
VALUES: dict[str, Any] = {
    "bool": True, "int": 3, "double": 2.5, "string": "x", "list": [1], "map": {"a": 1}, "null_type": None
}  # fmt: skip

ANY = '{type: [string, number, boolean, array, object, "null"]}'
IN_REQUEST = ", ".join(f"{name}: type(request.body.v) == {name}" for name in NAMES)
IN_ROW = ", ".join(f"{name}: type(w.any) == {name}" for name in NAMES)
WHERE = "\n".join(
    f"GET /{name}: {{does: list w, where: type(w.any) == {name}, sort: [id], pages: {{by: none}}, "
    f"responses: {{200: page.items}}}}"
    for name in NAMES
)

CONTRACT = f"""# Types

## 1. What the service does

Says what comes.

## 2. Resources and their fields

```yaml
w:
  primary key: id
  fields:
    id:  {{type: integer, on create: serial()}}
    any: {ANY}
types:
  v: {{type: object, properties: {{v: {ANY}}}}}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
produces: application/json
POST /w: {{does: create w, body: [any], responses: {{201: {{{IN_ROW}}}}}}}
POST /v: {{does: compute, body: {{$ref: "#/types/v"}}, responses: {{200: {{{IN_REQUEST}}}}}}}
{WHERE}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {{all others: anyone}}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {{media type: application/problem+json, body: {{code: error.code}}}}
codes:
  wrong: {{status: 422, title: Wrong, for: invalid}}
```

{LIMITS_AND_VERSIONS}"""


def test_a_value_is_of_one_type(tmp_path: Path) -> None:
    plan = plan_of(CONTRACT)
    with serving(plan, tmp_path / "db", {}) as service:
        for name, value in VALUES.items():
            expected = {each: each == name for each in NAMES}
            assert service.post("/v", json={"v": value}).json() == expected, name
            assert service.post("/w", json={"any": value}).json() == expected, name
        for number, name in enumerate(VALUES, 1):
            assert [each["id"] for each in service.get(f"/{name}").json()] == [number], name


@pytest.mark.parametrize(
    "asked",
    ["type(w.any) == type(w.id)", "type(w.any) in [list, map]", "type(w.any) == uint", "type() == list", "type(w.any)"],
)
def test_a_type_is_compared_with_a_name_and_nothing_else(asked: str) -> None:
    text = CONTRACT.replace(f"where: type(w.any) == {NAMES[0]}", f"where: '{asked}'")
    found = compile_document("contract.md", text.encode()).diagnostics
    told = [each for each in found if each.code.severity is Severity.ERROR]
    assert [each.message for each in told] == ["`type(x)` is no value: it is compared with one of CEL's types by name"]
    assert "write `type(x) == list`" in told[0].help[0]
