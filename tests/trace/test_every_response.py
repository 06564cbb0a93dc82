"""Every part of every response of every case comes from somewhere: nothing is invented.

The exchanges of `tests/cases` are told to services that trace. Of each response the status, each header and each member
of the body has a cause, each line of the contract that is named is there, and has something on it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from tests.http_cases import serving, tell
from tests.test_cases import SERVED, compiled

from ninefold.ablate.requests import Known, read_exchanges
from ninefold.diagnostics.render import render
from ninefold.explain.explanation import all_items
from ninefold.explain.render import to_text
from ninefold.explain.traced import explain_response
from ninefold.expressions.tree import Constant
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.responses import FromExpression, ObjectOf
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.trace.attribution import attribution
from ninefold.trace.causes import Attribution, Cause, Member, Stated
from ninefold.trace.causes import Path as MemberPath
from ninefold.trace.identifier import HEADER, LONGEST
from ninefold.values import Text

OF_CONNECTIONS = frozenset({"connection"})
"""Whether a connection goes on is for its two ends, and no part of a response (RFC 9110, section 7.6.1)."""


@pytest.mark.serves
@pytest.mark.parametrize("directory", SERVED, ids=lambda path: path.name)
def test_every_part_of_a_response_has_a_cause(directory: Path, tmp_path: Path) -> None:
    loaded = compiled(directory)
    assert loaded.plan is not None
    given = directory / "operator.json"
    operator = json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}
    responses: list[httpx.Response] = []

    def kept(response: httpx.Response) -> None:
        response.read()
        responses.append(response)

    for path in sorted((directory / "http").glob("*.http")):
        with serving(loaded.plan, tmp_path / "service.db", operator, trace=True) as client:
            client.event_hooks["response"] = [kept]
            known: Known = {}
            for exchange in read_exchanges(path.read_text(encoding="utf-8")):
                tell(client, exchange, known)
    assert responses
    found = [
        f"{each.request.method} {each.url.path} {each.status_code}: {problem}"
        for each in responses
        for problem in problems(loaded, each)
    ]
    assert not found, "\n".join(dict.fromkeys(found))


def problems(loaded: Loaded, response: httpx.Response) -> Iterator[str]:
    """What of a response nothing accounts for."""
    assert loaded.plan is not None
    text = response.headers.get(HEADER)
    if text is None:
        yield "no identifier"
        return
    if len(text) > LONGEST:
        yield f"an identifier of {len(text)} characters"
    found = attribution(loaded.plan, text)
    if found.status != response.status_code:
        yield f"another status, {found.status}"
    if not found.causes:
        yield "the status has no cause"
    for each in found.refusals:
        if not each.causes:
            yield f"the refusal {each.condition} has no cause"
        if (each.where == "row" or each.rule == "stored") and not any(isinstance(c, Stated) for c in each.causes):
            yield f"no line gives what is refused by {each.rule}"
    of_headers = {each.name: each for each in found.headers}
    for name in response.headers:
        header = of_headers.get(name.lower())
        if name not in OF_CONNECTIONS | {HEADER.lower()} and (header is None or not header.causes or not header.value):
            yield f"the header {name} has no cause"
    if response.content:
        if "json" in response.headers["content-type"]:
            yield from unaccounted(response.json(), (), found.members)
        elif not found.members:
            yield "the body has no cause"
    elif found.members and response.request.method != "HEAD":
        yield "members of a body that is not there"
    for cause in every_cause(found):
        yield from not_there(loaded, cause)
    page = explain_response(loaded, found)
    if not list(all_items(page)) or str(response.status_code) not in to_text(page):
        yield "no page"


def unaccounted(value: Any, path: MemberPath, members: tuple[Member, ...]) -> Iterator[str]:
    """The members of a body that no attribution accounts for."""
    fitting = [each for each in members if each.path == path]
    if not fitting:
        yield f"{list(path)} has no member"
        return
    if any(each.whole for each in fitting):
        if not any(each.causes for each in fitting):
            yield f"{list(path)} has no cause"
        return
    leaf = not isinstance(value, dict | list)
    if not any(each.causes and (each.value or not leaf or value is None) for each in fitting) and (path or leaf):
        yield f"{list(path)} has no cause"
    if isinstance(value, dict):
        for name, each in value.items():
            yield from unaccounted(each, (*path, name), members)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            written_out = any(member.path == (*path, number) for member in members)
            yield from unaccounted(each, (*path, number if written_out else None), members)


def every_cause(found: Attribution) -> Iterator[Cause]:
    yield from found.causes
    for header in found.headers:
        yield from (*header.causes, *header.value)
    for member in found.members:
        yield from (*member.causes, *member.value)
    for refusal in found.refusals:
        yield from refusal.causes
    for event in found.events:
        yield from event.causes
        for member in event.members:
            yield from (*member.causes, *member.value)


def not_there(loaded: Loaded, cause: Cause) -> Iterator[str]:
    """Whether a place is none of the document."""
    if isinstance(cause, Stated):
        lines = loaded.source.text.splitlines()
        line = lines[cause.place.line - 1] if cause.place.line <= len(lines) else ""
        if not line[cause.place.column - 1 :].strip():
            yield f"nothing stands at {cause.place.line}:{cause.place.column}"


# ── What is invented is seen ──────────────────────────────────────────────────────────────────────────────────

HELLO = """\
# Hello

## 2. Resources and their fields

Resources: none.

## 4. Endpoints

```yaml
requests: {unknown parameters: refused}
responses: {media type: application/json}
GET /hello: {does: compute, responses: {200: {text: "'hello'"}}}
```

## 5. Authentication

```yaml
schemes: none
permissions: {GET /hello: anyone}
```

## 7. Errors

```yaml
shape: {media type: application/json, body: {code: error.code}}
codes: {nothing: {status: 404, when: no such path}}
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
