"""What comes from nowhere is seen: a header, a member, a status that no line of the contract gives. That nothing does
is judged of every response of every case (`tests/test_cases.py`)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.http_cases import serving
from tests.trace.accounted import problems

from ninefold.diagnostics.render import render
from ninefold.expressions.tree import Constant
from ninefold.pipeline import compile_document
from ninefold.plan.responses import FromExpression, ObjectOf
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.values import Text

HELLO = """\
# Hello

## 2. Resources and their fields

Resources: none.

## 4. Endpoints

```yaml
requests: {unknown parameters: refused}
produces: application/json
GET /hello: {does: compute, responses: {200: {text: "'hello'"}}}
```

## 5. Authentication

```yaml
schemes: none
permissions: {GET /hello: anyone}
```

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes: {nothing: {status: 404, for: no such path}}
```
"""


def with_invented(plan: ServicePlan, what: str) -> ServicePlan:
    """A plan that does something which no line of its contract says."""
    [route] = plan.routes
    assert isinstance(route, Served)
    [admission] = route.admissions
    response, content = admission.operation.response, admission.operation.response.content
    constant = FromExpression(Constant("1", Text()))
    assert isinstance(content, ObjectOf)
    match what:
        case "a header":
            response = replace(response, headers=(*response.headers, ("X-Powered-By", constant)))
        case "a member":
            members = (*content.members, ("powered_by", constant))
            response = replace(response, content=replace(content, members=members))
        case "a status":
            response = replace(response, trace=())
            route = replace(route, trace=())
        case _:
            response = replace(response, places={})
    operation = replace(admission.operation, response=response)
    return replace(plan, routes=(replace(route, admissions=(replace(admission, operation=operation),)),))


@pytest.mark.serves
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("a header", "the header x-powered-by has no cause"),
        ("a member", "['powered_by'] has no cause"),
        ("a status", "the status has no cause"),
        ("a media type", "the header content-type has no cause"),
    ],
)
def test_what_is_invented_is_seen(what: str, said: str, tmp_path: Path) -> None:
    loaded = compile_document("hello.md", HELLO.encode())
    assert loaded.plan is not None, render(loaded.diagnostics, loaded.source)
    with serving(loaded.plan, tmp_path / "honest.db", {}, trace=True) as client:
        assert list(problems(loaded, client.get("/hello"))) == []
        assert list(problems(loaded, client.get("/nowhere"))) == []
    altered = with_invented(loaded.plan, what)
    invented = dataclasses.replace(loaded, planned=lambda: altered)
    assert invented.plan is not None
    with serving(invented.plan, tmp_path / "invented.db", {}, trace=True) as client:
        assert list(problems(invented, client.get("/hello"))) == [said]
