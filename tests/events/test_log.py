"""The log as the resource `event`: who is told of what, for how long, in which version."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.events.service import CONTRACT, Running, running
from tests.events.test_cleaning import positions, until_positions
from tests.parts import in_two_versions

from ninefold.runtime.background import jobs
from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves

ENDPOINTS = """
GET /log:
  does: list event
  query:
    kind:  event.kind == value
    since: event.time >= value
    note:  event.row == value
    sort:  {sorts: [-position, -time, kind]}
  sort: [position]
  pages: {default: 2, maximum: 50, by: cursor, size: limit, at: cursor}
  etag: true
  responses: {200: {events: page.items, next: page.next, total: page.total}}
GET /log/{id}: {does: read event, etag: true, responses: {200: event}}
GET /at/{position}:
  does: read event
  where: event.kind != 'note.changed'
  responses: {200: {kind: event.kind, told: all(event).size()}}
GET /pages:
  does: list event
  sort: [-position]
  pages: {default: 2, maximum: 9, by: offset, size: limit, at: offset, first: 0}
  responses: {200: {at: "page.items.map(e, e.position)", total: page.total}}
GET /notes/{note}/log:
  does: list event
  path: {note: {type: string, format: uuid}}
  where: "event.resource == 'note' && event.row == request.path.note"
  sort: [position]
  pages: none
  responses: {200: {at: "page.items.map(e, e.position)"}}
GET /notes/{id}/history:
  does: read note
  responses:
    200: {title: note.title, told: "all(event).filter(e, e.row == note.id).map(e, {'at': e.position, 'is': e.payload})"}
"""


def with_log(contract: str = CONTRACT, kept: str = "P30D", rule: str = "true", unseen: str = "not found") -> str:
    """A contract whose log can be read."""
    stream = "GET /events: {does: stream event, responses: {200: stream}}\n"
    for written, instead in (
        (stream, stream + ENDPOINTS.lstrip()),
        ("  subscription: {token: true}\n", f"  subscription: {{token: true}}\n  event: {{token: {rule}}}\n"),
        ("unseen rows: not found", f"unseen rows: {unseen}"),
        ("kept: P7D\n", f"kept: {kept}\n"),
    ):
        assert written in contract
        contract = contract.replace(written, instead, 1)
    return contract


def log(service: Running, by: dict[str, str], **parameters: Any) -> list[dict[str, Any]]:
    came = service.http.get("/log", params={"limit": 50, **parameters}, headers=by)
    assert came.status_code == 200, came.text
    assert came.json()["total"] == len(came.json()["events"])
    events: list[dict[str, Any]] = came.json()["events"]
    return events


def at(events: list[dict[str, Any]]) -> list[int]:
    return [event["position"] for event in events]


def patched(service: Running, note: str, by: dict[str, str], **changes: Any) -> None:
    assert service.http.patch(f"/notes/{note}", json=changes, headers=by).status_code == 200


def test_an_event_is_read_as_it_was_written(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", with_log()) as service:
        ann = service.person("Ann")
        note = service.note(ann, "tea")
        patched(service, note, ann, title="milk")
        service.http.delete(f"/notes/{note}", headers=ann)
        written, changed, deleted = log(service, ann)
        one = service.http.get(f"/log/{changed['id']}", headers=ann)
    assert written["kind"] == "note.written" and written["payload"]["title"] == "tea"
    assert (changed["resource"], changed["row"]) == ("note", note)
    assert changed["payload"] == {"id": note, "title": "milk", "owner": "Ann"}
    assert deleted["kind"] == "note.deleted" and list(deleted) == [
        "position", "id", "kind", "time", "resource", "row", "payload"
    ]  # fmt: skip
    assert one.json() == changed


def test_only_those_who_see_a_row_are_told_of_it(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", with_log()) as service:
        ann, bob, cleo = service.person("Ann"), service.person("Bob"), service.person("Cleo", "staff")
        bob_id = service.rows("SELECT id FROM person WHERE name = 'Bob'")[0][0]
        tea, rum = service.note(ann, "tea"), service.note(bob, "rum")
        assert [at(log(service, each)) for each in (ann, bob, cleo)] == [[1], [2], [1, 2]]
        [of_ann] = log(service, ann)
        assert service.http.get(f"/log/{of_ann['id']}", headers=bob).status_code == 404
        assert service.http.get("/at/1", headers=bob).status_code == 404
        assert service.http.get("/at/1", headers=cleo).json() == {"kind": "note.written", "told": 2}
        assert service.http.get("/at/1", headers=ann).json() == {"kind": "note.written", "told": 1}
        # Who is given a row is not given its past, and who has given it away has no part in it any more.
        patched(service, tea, cleo, owner=bob_id)
        assert [at(log(service, each)) for each in (ann, bob, cleo)] == [[], [2, 3], [1, 2, 3]]
        patched(service, rum, bob, title="gin")
        assert at(log(service, bob, note=rum)) == [2, 4]
        told = service.http.get(f"/notes/{rum}/history", headers=bob).json()
        assert [each["at"] for each in told["told"]] == [2, 4]
        assert service.http.get("/log").status_code == 401


def test_rows_of_event_narrow_it_further(tmp_path: Path) -> None:
    rule = "\"caller.person.role == 'staff' || event.kind != 'note.changed'\""
    with running(tmp_path / "service.db", with_log(rule=rule, unseen="forbidden")) as service:
        ann, cleo = service.person("Ann"), service.person("Cleo", "staff")
        note = service.note(ann, "tea")
        patched(service, note, ann, title="milk")
        assert [at(log(service, each)) for each in (ann, cleo)] == [[1], [1, 2]]
        changed = log(service, cleo)[1]["id"]
        assert service.http.get(f"/log/{changed}", headers=ann).status_code == 403
        assert service.http.get(f"/log/{changed}", headers=cleo).status_code == 200
        assert service.http.get("/at/2", headers=cleo).status_code == 404  # as `where` says
        assert service.http.get("/log/nothing", headers=ann).status_code == 404


def test_pages_filters_and_orders(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", with_log()) as service:
        ann = service.person("Ann")
        notes = [service.note(ann, f"note {number}") for number in range(5)]
        patched(service, notes[0], ann, title="other")
        first = service.http.get("/log", headers=ann).json()
        service.note(ann, "later")  # what happens in between moves no page
        second = service.http.get("/log", params={"cursor": first["next"]}, headers=ann).json()
        assert at(first["events"] + second["events"]) == [1, 2, 3, 4]
        assert service.http.get("/pages", params={"offset": 1}, headers=ann).json() == {"at": [6, 5], "total": 7}
        assert at(log(service, ann, sort="-position")) == [7, 6, 5, 4, 3, 2, 1]
        assert at(log(service, ann, sort="-time"))[0] == 7
        assert at(log(service, ann, kind="note.changed")) == [6]
        assert at(log(service, ann, note=notes[0])) == [1, 6]
        assert service.http.get(f"/notes/{notes[0]}/log", headers=ann).json() == {"at": [1, 6]}
        assert service.http.get("/notes/none/log", headers=ann).status_code == 404
        since = log(service, ann)[5]["time"]
        assert at(log(service, ann, since=since)) == [6, 7]
        assert at(log(service, ann, kind="nothing.of.the.kind")) == []
        for wrong in ({"since": "yesterday"}, {"limit": 51}, {"cursor": "no"}, {"sort": "row"}, {"of": "all"}):
            assert service.http.get("/log", params=wrong, headers=ann).status_code == 422, wrong


def test_entity_tags_of_the_log(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", with_log()) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        path = f"/log/{log(service, ann)[0]['id']}"
        tags = {each: service.http.get(each, headers=ann).headers["etag"] for each in ("/log", path)}
        for each, tag in tags.items():
            assert service.http.get(each, headers=ann | {"If-None-Match": tag}).status_code == 304
        service.note(ann, "milk")
        assert service.http.get("/log", headers=ann | {"If-None-Match": tags["/log"]}).status_code == 200
        assert service.http.get(path, headers=ann | {"If-None-Match": tags[path]}).status_code == 304
        for asked, status in (({"If-None-Match": "*"}, 304), ({"If-Match": '"x"'}, 412)):
            assert service.http.get("/events", headers=ann | asked).status_code == status


def test_an_event_can_be_read_for_as_long_as_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FIRST", 0.05)
    monkeypatch.setattr(jobs, "EVERY", 0.05)
    monkeypatch.setattr(jobs, "MOST", 1)
    ahead = timedelta()
    sources = Sources(clock=lambda: datetime.now(UTC) + ahead)
    with running(tmp_path / "service.db", with_log(), sources=sources) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        ahead = timedelta(days=8)  # beyond what streams go back to
        service.note(ann, "milk")
        assert at(log(service, ann)) == positions(service) == [1, 2]
        ahead = timedelta(days=29)
        assert at(log(service, ann)) == [1, 2]
        ahead = timedelta(days=31)
        assert at(log(service, ann)) == [2]
        assert service.http.get("/at/1", headers=ann).status_code == 404
        until_positions(service, [2])


def test_a_log_without_an_end_keeps_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FIRST", 0.05)
    monkeypatch.setattr(jobs, "EVERY", 0.05)
    ahead = timedelta()
    sources = Sources(clock=lambda: datetime.now(UTC) + ahead)
    with running(tmp_path / "service.db", with_log(kept="all"), sources=sources) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        ahead = timedelta(days=100_000)
        service.note(ann, "milk")
        assert at(log(service, ann)) == [1, 2]


def test_what_happened_before_the_log_was_read_is_there(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    with running(path) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
    with running(path, with_log()) as service:
        assert at(log(service, ann)) == [1]
        assert service.rows("SELECT count(*) FROM sqlite_schema WHERE name = '$event by id'") == [(1,)]


def test_the_log_is_read_as_the_version_of_the_request_has_it(tmp_path: Path) -> None:
    contract = in_two_versions(
        with_log(),
        "{rename: note.title, to: text}",
        "{rename: note.written, to: note.made}",
        "{remove: note.finished}",
        "{add: note.ended, was: {upon: finish note, payload: {id: note.id, over: 'true'}}}",
        "{remove: note.changed}",
    )
    with running(tmp_path / "service.db", contract) as service:
        ann = service.person("Ann")
        old = ann | {"Api-Version": "1"}
        note = service.note(ann, "tea")
        patched(service, note, ann, title="milk")
        service.http.post(f"/notes/{note}/finish", headers=ann)
        newest, older = log(service, ann), log(service, old)
        assert [each["kind"] for each in newest] == ["note.written", "note.changed", "note.finished"]
        assert [(each["position"], each["kind"]) for each in older] == [(1, "note.made"), (4, "note.ended")]
        assert older[0]["payload"]["text"] == "tea" and "title" not in older[0]["payload"]
        assert older[1]["payload"] == {"id": note, "over": True}
        assert newest[0]["id"] == older[0]["id"]
        assert [at(log(service, each, kind="note.made")) for each in (ann, old)] == [[], [1]]
        changed = newest[1]["id"]
        assert [service.http.get(f"/log/{changed}", headers=each).status_code for each in (ann, old)] == [200, 404]
        told = service.http.get(f"/notes/{note}/history", headers=old).json()["told"]
        assert [each["is"] for each in told][-1] == {"id": note, "over": True}
