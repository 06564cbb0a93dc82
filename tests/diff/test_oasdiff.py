"""Each check of oasdiff, which compares OpenAPI documents: how the same change is said in a contract, and that what it
calls an error or a warning is not let pass here (`oasdiff.yaml`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.diff.test_pairs import edited, loaded
from tests.slices import some

from ninefold.diff.compare import diff

SAID: dict[str, Any] = msgspec.yaml.decode(Path(__file__).with_name("oasdiff.yaml").read_bytes())
LEVELS = {check: level for level, checks in SAID["checks"].items() for check in checks.split()}
GRAVE = ("error", "warning")

OF_PLACES = {
    "sent": "request-(body|property)",
    "asked": "request-(parameter|header|parameter-property|header-property)",
    "shown": "response-(body|property|mediatype)",
}
PLACES = {"sent": "sent:  {type: string}", "asked": "asked: {type: string}", "shown": "shown: {type: string}"}

CONTRACT = """# Things

## 1. What the service does

Keeps things.

## 2. Resources and their fields

```yaml
thing:
  primary key: id
  fields:
    id:    {type: string, format: uuid, on create: uuid()}
    token: {type: string, secret: token, on create: token()}
    sent:  {type: string}
    shown: {type: string}
```

## 3. States and transitions

```yaml
thing: none
```

## 4. Endpoints

```yaml
requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /things:
  does: create thing
  body: [sent]
  responses: {201: {id: thing.id}}
GET /things:
  does: list thing
  query: {asked: {type: string}}
  sort: [id]
  pages: none
  responses: {200: {all: "page.items.map(t, {'shown': t.shown})"}}
GET /things/{id}:
  does: read thing
  responses: {200: {shown: thing.shown}}
GET /events: {does: stream event, responses: {200: stream}}
```

## 5. Authentication

```yaml
schemes: {key: {type: http, scheme: bearer, matches: thing.token}}
rows: {thing: all}
unseen rows: not found
permissions: {all others: anyone}
```

## 6. Events

```yaml
kinds: {first: {upon: create thing, payload: {id: thing.id}}}
delivery: {stream: server-sent events}
kept: P7D
```

## 7. Errors

```yaml
error shape:
  media type: application/problem+json
  body: {title: error.title}
codes:
  not_found: {status: 404, title: Not there, for: [not found, no such path]}
  method:    {status: 405, title: No such method, for: method not allowed}
  who:       {status: 401, title: Who are you, for: unauthenticated}
  malformed: {status: 400, title: Not JSON, for: [malformed, unknown version]}
  media:     {status: 415, title: Only JSON, for: unsupported media type}
  accept:    {status: 406, title: Only JSON, for: not acceptable}
  conflict:  {status: 409, title: There already, for: conflict}
  invalid:   {status: 422, title: Not right, for: invalid}
  busy:      {status: 503, title: Busy, for: [unavailable, timed out]}
  broken:    {status: 500, title: Our fault, for: internal}
```

## 8. Limits

```yaml
rates: none
body size: none
timeout: none
```

## 9. Versioning

```yaml
in: header
name: Version
versions: {"1": {}}
default: "1"
compatible: none
```
"""


def of_schemas() -> list[tuple[str, str, str, str, str]]:
    return [
        (names[0], place, each["old"], each["new"], each[place])
        for each in SAID["schemas"]
        for names in (each["names"],)
        for place in PLACES
        if place in each
    ]


def checks(names: list[str], place: str) -> set[str]:
    return {each for each in LEVELS for name in names if re.fullmatch(f"{OF_PLACES[place]}-{name}", each)}


def test_every_check_is_said_or_has_its_reason() -> None:
    told = {check for each in SAID["changes"] for check in each["checks"]}
    told |= {check for each in SAID["schemas"] for place in PLACES for check in checks(each["names"], place)}
    reasons = {each["because"]: re.compile(each["checks"]) for each in SAID["unsaid"]}
    for check in told:
        assert check in LEVELS, check
    assert [
        check for check in LEVELS if check not in told and not any(p.fullmatch(check) for p in reasons.values())
    ] == []
    assert len(LEVELS) == 509


def test_nothing_is_weaker_without_a_reason() -> None:
    for each in SAID["schemas"]:
        for place in PLACES:
            if any(LEVELS[check] in GRAVE for check in checks(each["names"], place)) and place in each:
                assert each[place] in ("breaking", "look"), each
    for each in SAID["changes"]:
        if any(LEVELS[check] in GRAVE for check in each["checks"]):
            assert each["verdict"] in ("breaking", "look") or "because" in each, each


@pytest.mark.long
@pytest.mark.parametrize(("name", "place", "old", "new", "verdict"), some(of_schemas(), 8))
def test_a_schema_that_is_another_has_its_verdict(name: str, place: str, old: str, new: str, verdict: str) -> None:
    explode = ", explode: true" if place == "asked" and "array" in old else ""
    was, now = (
        loaded("contract.md", CONTRACT.replace(PLACES[place], f"{place}: {said[:-1]}{explode}}}"))
        for said in (old, new)
    )
    found = diff(was, now)
    assert {each.verdict for each in found.findings} == {verdict}, [
        (each.said, each.effects) for each in found.findings
    ]


@pytest.mark.long
@pytest.mark.parametrize("change", some(SAID["changes"], 4), ids=lambda each: each["checks"][0])
def test_a_change_has_its_verdict(change: dict[str, Any]) -> None:
    old = edited(CONTRACT, change.get("old", []))
    found = diff(loaded("old.md", old), loaded("new.md", edited(old, change["edit"])))
    told = [(each.verdict, each.said, each.effects) for each in found.findings]
    assert found.findings and found.findings[0].verdict == change["verdict"], told
