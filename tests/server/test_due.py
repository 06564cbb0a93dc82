"""What a row itself says is due: transitions at times of the row, and rows that delete themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.server.conftest import Running, running
from tests.server.test_timers import LOANS, START, Hands

from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document
from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves

ROOMS = """\
# Rooms

## 1. What the service does

Keeps rooms for guests until their time is up.

## 2. Resources and their fields

```yaml
room:
  primary key: id
  fields:
    id: {type: integer, on create: serial()}
guest:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    name:  {type: string}
    until: {type: string, format: date-time}
  expires: guest.until
stay:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    guest:  {references: guest, on delete: restrict}
    by:     {type: string, format: date-time}
    hold:   {type: integer}
    state:  {state: true}
    ended:  {type: string, format: date-time}
visit:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    guest: {references: guest, on delete: cascade}
```

## 3. States and transitions

```yaml
stay:
  initial: asked
  states: [asked, kept, over]
  transitions:
    keep:   {from: asked, to: kept}
    forget: {from: asked, to: over, after: "stay.hold > 50 ? duration('60s') : duration('30s')", sets: {ended: now}}
    end:    {from: kept, to: over, after: stay.by, sets: {ended: now}}
room: none
guest: none
visit: none
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /guests:          {does: create guest, body: [name, until], responses: {201: guest}}
PATCH /guests/{id}:    {does: update guest, body: [until], patch: merge, responses: {200: guest}}
GET /guests:           {does: list guest, sort: [id], pages: none, responses: {200: page.items}}
POST /visits:          {does: create visit, body: [guest], responses: {201: visit}}
GET /visits:           {does: list visit, sort: [id], pages: none, responses: {200: page.items}}
POST /stays:           {does: create stay, body: [guest, by, hold], responses: {201: stay}}
PATCH /stays/{id}:     {does: update stay, body: [guest, by], patch: merge, responses: {200: stay}}
GET /stays/{id}:       {does: read stay, responses: {200: stay}}
POST /stays/{id}/keep: {does: keep stay, body: none, responses: {200: stay}}
GET /events:           {does: stream event, responses: {200: stream}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
unseen rows: not found
permissions: {all others: anyone}
```

## 6. Events

```yaml
kinds: {guest.left: {upon: delete guest, payload: {name: guest.name}}}
delivery: {stream: server-sent events}
kept: P99D
```

## 7. Errors

Errors: none.

## 8. Limits

Limits: none.

## 9. Versioning

Versions: none.
"""


@contextmanager
def kept(path: Path, hands: Hands, text: str = ROOMS) -> Iterator[Running]:
    with running(plan_of(text), path / "rooms.db", Sources(clock=hands)) as service:
        yield service


def at(**by: float) -> str:
    return (START + timedelta(**by)).isoformat().replace("+00:00", "Z")


def names(service: Running) -> list[str]:
    return [each["name"] for each in service.http.get("/guests").json()]


def test_a_row_is_there_until_the_time_that_it_says(tmp_path: Path) -> None:
    hands = Hands()
    with kept(tmp_path, hands) as service:
        for name, hours in (("Ada", 2), ("Bob", 1), ("Cy", 0)):
            assert service.http.post("/guests", json={"name": name, "until": at(hours=hours)}).status_code == 201
        service.http.post("/guests", json={"name": "Dee"})
        assert names(service) == ["Ada", "Bob", "Dee"]
        hands.move(hours=1, microseconds=-1)
        assert names(service) == ["Ada", "Bob", "Dee"]
        hands.move(microseconds=1)
        assert names(service) == ["Ada", "Dee"]
        assert service.http.patch("/guests/2", json={"until": at(days=9)}).status_code == 404
        assert service.http.patch("/guests/1", json={"until": at(days=9)}).status_code == 200
        hands.move(hours=5)
        assert names(service) == ["Ada", "Dee"]
    hands.move(days=20)
    with kept(tmp_path, hands) as service:
        assert names(service) == ["Dee"]
        with service.http.stream("GET", "/events", headers={"Last-Event-ID": "0"}) as stream:
            told = (line for line in stream.iter_lines() if line.startswith("data:"))
            assert [next(told) for _ in range(3)] == [f'data: {{"name":"{name}"}}' for name in ("Cy", "Bob", "Ada")]


def test_what_refuses_a_deletion_keeps_the_row_and_what_falls_with_it_falls(tmp_path: Path) -> None:
    hands = Hands()
    with kept(tmp_path, hands) as service:
        for name in ("Ada", "Bob"):
            service.http.post("/guests", json={"name": name, "until": at(hours=1)})
        assert service.http.post("/visits", json={"guest": 2}).status_code == 201
        assert service.http.post("/stays", json={"guest": 1}).status_code == 201
        hands.move(hours=2)
        assert names(service) == ["Ada"]
        assert service.http.get("/visits").json() == []
        assert service.http.patch("/stays/1", json={"guest": None}).status_code == 422
        service.http.post("/guests", json={"name": "Eve"})
        assert service.http.patch("/stays/1", json={"guest": 3}).status_code == 200
        assert names(service) == ["Eve"]


def test_a_duration_of_the_row_counts_from_when_it_entered_its_state(tmp_path: Path) -> None:
    hands = Hands()
    with kept(tmp_path, hands) as service:
        service.http.post("/guests", json={"name": "Ada"})
        for hold in (60, 30, None):
            assert service.http.post("/stays", json={"guest": 1, "hold": hold} if hold else {"guest": 1}).is_success
        hands.move(seconds=45)
        shown = [service.http.get(f"/stays/{number}").json() for number in (1, 2, 3)]
        assert [each["state"] for each in shown] == ["asked", "over", "asked"]
        assert shown[1]["ended"] == hands.after(seconds=30)
        hands.move(days=400)
        shown = [service.http.get(f"/stays/{number}").json() for number in (1, 3)]
        assert [each["state"] for each in shown] == ["over", "asked"]
        assert shown[0]["ended"] == hands.after(seconds=60)


def test_a_time_that_has_passed_is_due_when_the_row_enters(tmp_path: Path) -> None:
    hands = Hands()
    with kept(tmp_path, hands) as service:
        service.http.post("/guests", json={"name": "Ada"})
        service.http.post("/stays", json={"guest": 1, "by": at(hours=1)})
        hands.move(hours=3)
        assert service.http.post("/stays/1/keep").json()["state"] == "kept"
        shown = service.http.get("/stays/1").json()
        assert (shown["state"], shown["ended"]) == ("over", hands.after(hours=3))


@pytest.mark.parametrize(
    ("written", "wrong", "code"),
    [
        ("after: PT1H", "after: loan.note", "NF0408"),
        ("after: PT1H", "after: now", "NF0305"),
        ("after: PT1H", "after: loan.soon", "NF0570"),
        ("after: PT1H", "after: 30m", "NF0305"),
        ("after: PT1H", "after: P1M", "NF0305"),
        ("  check:", "  expires: loan.fee\n  check:", "NF0408"),
        ("  check:", "  expires: {after: PT1H}\n  check:", "NF0303"),
    ],
)
def test_what_is_no_time_of_the_row_is_told(written: str, wrong: str, code: str) -> None:
    soon = "    soon:     {type: string, format: date-time, computed: now + duration('1h')}\n    closed:"
    text = LOANS.replace("    closed:", soon, 1).replace(written, wrong, 1)
    loaded = compile_document("loans.md", text.encode())
    assert code in [each.code.id for each in loaded.diagnostics], render(loaded.diagnostics, loaded.source)


def test_where_it_is_not_shown_what_a_deletion_does_nothing_ends_by_itself() -> None:
    loaded = compile_document("rooms.md", ROOMS.replace(", on delete: restrict", "").encode())
    assert loaded.plan is not None, render(loaded.diagnostics, loaded.source)
    assert [each.subject for each in loaded.open_questions] == ["stay.guest"]
    assert [timer.transition for timer in loaded.plan.timers] == ["forget", "end"]
