"""`stream event`: what is written, who sees it, and how a stream is resumed."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from tests.events.receiver import receiving
from tests.events.service import CONTRACT, Running, running
from tests.events.stream import Event, listening, over
from tests.parts import in_two_versions

from ninefold.pipeline import compile_document
from ninefold.runtime.sources import Sources

pytestmark = [pytest.mark.serves, pytest.mark.usefixtures("over")]
__all__ = ["over"]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db") as service:
        yield service


def told(
    service: Running, by: dict[str, str], after: int | str, count: int, path: str = "/events"
) -> list[tuple[int, str]]:
    """Where in the log the next events are that a caller is told of, and their kinds."""
    return [(service.position(event.data["id"]), event.kind) for event in taken(service, by, after, count, path)]


def taken(service: Running, by: dict[str, str], after: int | str, count: int, path: str = "/events") -> list[Event]:
    with listening(service.http, by, after, path) as stream:
        return stream.take(count)


def test_an_event_is_a_cloud_event_that_the_official_library_accepts(service: Running) -> None:
    ann = service.person("Ann")
    with listening(service.http, ann) as stream:
        note = service.note(ann, "tea")
        [event] = stream.take(1)
    assert event.kind == "note.written"
    message = HTTPMessage({"content-type": "application/cloudevents+json"}, json.dumps(event.data).encode())
    read = from_structured_event(message)
    assert (read.get_type(), read.get_source(), read.get_subject()) == ("note.written", "/notes", note)
    assert read.get_datacontenttype() == "application/json"
    written = read.get_data()
    assert isinstance(written, dict) and (written["title"], written["status"]) == ("tea", "draft")


def test_without_an_envelope_an_event_is_its_payload(tmp_path: Path) -> None:
    contract = CONTRACT.replace("  envelope: {format: cloudevents 1.0, source: \"'/notes'\"}\n", "")
    with running(tmp_path / "service.db", contract) as service:
        ann = service.person("Ann")
        note = service.note(ann, "tea")
        service.http.delete(f"/notes/{note}", headers=ann)
        with listening(service.http, ann, 0) as stream:
            written, deleted = stream.take(2)
    assert written.data["id"] == note
    assert deleted.data == {"id": note, "title": "tea", "owner": "Ann"}


def test_an_event_arises_only_of_the_rows_that_its_kind_names(tmp_path: Path) -> None:
    upon = "note.finished: {upon: finish note"
    contract = CONTRACT.replace(upon, upon + ", where: \"note.title.startsWith('t')\"")
    assert contract != CONTRACT
    with running(tmp_path / "service.db", contract) as service:
        ann = service.person("Ann")
        finished = [service.note(ann, title) for title in ("tea", "milk", "toast")]
        for note in finished:
            assert service.http.post(f"/notes/{note}/finish", headers=ann).status_code == 200
        assert [kind for _, kind in told(service, ann, 0, 5)] == ["note.written"] * 3 + ["note.finished"] * 2


def test_each_cause_writes_its_events_and_no_others(service: Running) -> None:
    ann = service.person("Ann")
    note = service.note(ann, "tea")
    service.http.patch(f"/notes/{note}", json={"title": "green tea"}, headers=ann)
    assert service.http.patch(f"/notes/{note}", json={"title": 5}, headers=ann).status_code == 422
    service.http.post(f"/notes/{note}/finish", headers=ann)
    assert service.http.post(f"/notes/{note}/finish", headers=ann).status_code == 409
    assert service.http.delete(f"/notes/{note}x", headers=ann).status_code == 404
    service.http.delete(f"/notes/{note}", headers=ann)
    assert service.http.delete(f"/notes/{note}", headers=ann).status_code == 404
    with listening(service.http, ann, 0) as stream:
        events = stream.take(4)
        last = service.note(ann, "the last")
        [after] = stream.take(1)
    assert [event.kind for event in events] == ["note.written", "note.changed", "note.finished", "note.deleted"]
    assert [service.position(event.data["id"]) for event in (*events, after)] == [1, 2, 3, 4, 5]
    assert events[1].data["data"] == {"id": note, "title": "green tea", "owner": "Ann"}
    assert events[2].data["data"]["at"] == events[2].data["time"]
    assert events[3].data["data"] == {"id": note, "title": "green tea", "owner": "Ann"}
    assert after.data["subject"] == last


def test_a_stream_is_resumed_without_gaps_and_without_repetition(service: Running) -> None:
    ann = service.person("Ann")
    for number in range(250):
        service.note(ann, f"note {number}")
    seen: list[Event] = []
    while len(seen) < 250:
        with listening(service.http, ann, seen[-1].id if seen else 0) as stream:
            seen += stream.take(min(70, 250 - len(seen)))
    assert [event.data["data"]["title"] for event in seen] == [f"note {number}" for number in range(250)]
    assert len({event.id for event in seen}) == 250


def test_a_stream_without_a_position_begins_with_what_comes_next(service: Running) -> None:
    ann = service.person("Ann")
    service.note(ann, "before")
    with listening(service.http, ann) as stream:
        service.note(ann, "after")
        [event] = stream.take(1)
    assert event.data["data"]["title"] == "after"


@pytest.mark.parametrize("position", ["", "x", "-1", "1.0", "٣", "1", "4", "9" * 40, "A" * 43])
def test_what_no_stream_gave_is_invalid(service: Running, position: str) -> None:
    ann = service.person("Ann")
    service.note(ann, "the first")
    headers = {b"Authorization": ann["Authorization"].encode(), b"Last-Event-ID": position.encode()}
    assert service.http.get("/events", headers=headers).status_code == 422


def test_events_are_seen_by_those_who_see_the_row(service: Running) -> None:
    ann, bob, staff = service.person("Ann"), service.person("Bob"), service.person("Sue", "staff")
    of_ann, of_bob = service.note(ann, "Ann's"), service.note(bob, "Bob's")
    service.http.delete(f"/notes/{of_ann}", headers=ann)
    marks = [service.note(each, "mark") for each in (ann, bob)]
    assert told(service, ann, 0, 3) == [(1, "note.written"), (3, "note.deleted"), (4, "note.written")]
    assert told(service, bob, 0, 2) == [(2, "note.written"), (5, "note.written")]
    assert [id for id, _ in told(service, staff, 0, 5)] == [1, 2, 3, 4, 5]
    assert len(marks) == 2 and of_bob


def test_a_row_that_changes_hands_shows_its_past_to_nobody_but_those_who_see_both(service: Running) -> None:
    ann, bob, staff = service.person("Ann"), service.person("Bob"), service.person("Sue", "staff")
    note = service.note(ann, "Ann's secret")
    [(id_of_bob,)] = service.rows("SELECT id FROM person WHERE name = 'Bob'")
    given = service.http.patch(f"/notes/{note}", json={"owner": id_of_bob}, headers=ann)
    assert given.status_code == 200, given.text
    for each in (ann, bob):
        service.note(each, "mark")
    assert told(service, bob, 0, 2) == [(2, "note.changed"), (4, "note.written")]
    assert told(service, ann, 0, 1) == [(3, "note.written")]
    assert [id for id, _ in told(service, staff, 0, 4)] == [1, 2, 3, 4]


def test_a_rule_of_events_narrows_whom_they_are_told(tmp_path: Path) -> None:
    """Also where nothing reads the log, and whatever a version calls them."""
    rule = "event.kind != 'note.finished' || caller.person.role == 'staff'"
    contract = CONTRACT.replace("  subscription: {token", f'  event: {{token: "{rule}"}}\n  subscription: {{token')
    contract = in_two_versions(contract, "{rename: note.finished, to: note.ended}")
    with running(tmp_path / "service.db", contract) as service, receiving() as receiver:
        ann, sue = service.person("Ann"), service.person("Sue", "staff")
        for each in (ann, sue):
            service.subscribe(each, receiver.url, "note.finished", "note.deleted")
        note = service.note(ann, "tea")
        service.http.post(f"/notes/{note}/finish", headers=ann)
        service.http.delete(f"/notes/{note}", headers=ann)
        for version, finished in (("2", "note.finished"), ("1", "note.ended")):
            named = {"Api-Version": version}
            assert [kind for _, kind in told(service, ann | named, 0, 2)] == ["note.written", "note.deleted"]
            assert [kind for _, kind in told(service, sue | named, 0, 2)] == ["note.written", finished]
        came = [json.loads(each.body)["type"] for each in receiver.until(3)]
    assert sorted(came) == ["note.deleted", "note.deleted", "note.finished"]


def test_a_rule_of_events_that_says_nothing_of_a_caller_is_a_gap() -> None:
    contract = CONTRACT.replace("  subscription: {token", "  event: {anyone: true}\n  subscription: {token")
    asked = compile_document("contract.md", contract.encode()).open_questions
    assert [(each.subject, each.blocks) for each in asked] == [("event", ("POST /webhooks", "GET /events"))]


STREAM = "GET /events: {does: stream event, responses: {200: stream}}\n"


def test_where_and_the_query_say_which_events_a_stream_tells(tmp_path: Path) -> None:
    """Of what the caller may hear: at each batch, with rows and the caller as they are now, and in a replay too; each
    event is as its version has it. A webhook is told of the others as well."""
    narrowed = """
GET /events:
  does: stream event
  where: "caller.person.role == 'staff' || !all(note).exists(n, n.id == event.row && n.title == 'hush')"
  query:
    kind: {explode: false, where: event.kind in value}
    title: {type: string, maxLength: 8, where: event.payload.title == value}
    since: {type: string, format: date-time, default: "2020-01-01T00:00:00Z", where: event.time >= value}
  responses: {200: stream}
"""
    contract = in_two_versions(CONTRACT.replace(STREAM, narrowed.lstrip()), "{rename: note.finished, to: note.ended}")
    with running(tmp_path / "service.db", contract) as service, receiving() as receiver:
        ann, bob, sue = service.person("Ann"), service.person("Bob"), service.person("Sue", "staff")
        service.subscribe(ann, receiver.url, "note.changed")
        tea = service.note(ann, "tea")
        service.note(bob, "rum")
        with listening(service.http, ann) as stream:
            assert service.http.patch(f"/notes/{tea}", json={"title": "hush"}, headers=ann).status_code == 200
            service.until_all_were_asked()  # of what it was not told of then it is not told later
            service.http.patch(f"/notes/{tea}", json={"title": "milk"}, headers=ann)
            service.http.post(f"/notes/{tea}/finish", headers=ann)
            assert [event.kind for event in stream.take(2)] == ["note.changed", "note.finished"]
        assert [kind for _, kind in told(service, ann, 0, 4)] == [
            "note.written", "note.changed", "note.changed", "note.finished"
        ]  # fmt: skip
        service.http.patch(f"/notes/{tea}", json={"title": "hush"}, headers=ann)
        service.note(ann, "mark")
        assert told(service, ann, 0, 1) == [(7, "note.written")]
        assert len(told(service, sue, 0, 7)) == 7
        assert told(service, sue, 0, 1, "/events?title=tea&kind=note.written,note.finished") == [(1, "note.written")]
        assert told(service, sue, 0, 1, "/events?kind=note.finished,note.deleted") == [(5, "note.finished")]
        older = sue | {"Api-Version": "1"}
        assert told(service, older, 0, 1, "/events?kind=note.ended") == [(5, "note.ended")]
        for wrong in ("title=much-too-long", "since=yesterday", "sort=kind"):
            assert service.http.get(f"/events?{wrong}", headers=sue).status_code == 422
        assert len(receiver.until(3)) == 3


def test_a_stream_that_says_which_is_of_the_log_whatever_is_called_event(tmp_path: Path) -> None:
    """Of a resource of its own `all(event)` reads, and `event` does not."""
    narrowed = STREAM.replace(", resp", ', where: "all(event).exists(e, e.name == event.kind)", resp')
    made = "POST /happenings: {does: create event, body: [name], responses: {201: event}}\n"
    own = "event:\n  primary key: name\n  fields: {name: {type: string}}\n  required: [name]\nnote:\n  primary key"
    contract = CONTRACT.replace(STREAM, narrowed + made).replace("note:\n  primary key", own, 1)
    contract = contract.replace("person: none\n", "person: none\nevent: none\n")
    contract = contract.replace("  subscription: {token", "  event: {token: true}\n  subscription: {token")
    with running(tmp_path / "service.db", contract) as service:
        ann = service.person("Ann")
        service.http.post("/happenings", json={"name": "note.deleted"}, headers=ann)
        note = service.note(ann, "tea")
        service.http.delete(f"/notes/{note}", headers=ann)
        assert told(service, ann, 0, 1) == [(2, "note.deleted")]


def test_a_hidden_row_is_hidden_with_its_past(service: Running) -> None:
    ann = service.person("Ann")
    note = service.note(ann, "tea")
    service.http.patch(f"/notes/{note}", json={"hidden": True}, headers=ann)
    service.note(ann, "mark")
    assert told(service, ann, 0, 1) == [(3, "note.written")]


def test_events_that_are_not_kept_any_more_are_missed_aloud(tmp_path: Path) -> None:
    ahead = timedelta()
    sources = Sources(clock=lambda: datetime.now(UTC) + ahead)
    with running(tmp_path / "service.db", sources=sources) as service:
        ann = service.person("Ann")
        service.note(ann, "old")
        service.note(ann, "old as well")
        ahead = timedelta(days=6)
        service.note(ann, "new")
        first, second, third = taken(service, ann, 0, 3)
        assert told(service, ann, first.id, 2) == [(2, "note.written"), (3, "note.written")]
        ahead = timedelta(days=8)
        assert service.http.get("/events", headers={**ann, "Last-Event-ID": first.id}).status_code == 422
        assert service.http.get("/events", headers={**ann, "Last-Event-ID": "0"}).status_code == 422
        assert told(service, ann, second.id, 1) == [(3, "note.written")]
        ahead = timedelta(days=80)
        assert service.http.get("/events", headers={**ann, "Last-Event-ID": second.id}).status_code == 422
        with listening(service.http, ann, third.id) as stream:
            service.note(ann, "after all")
            assert [event.data["data"]["title"] for event in stream.take(1)] == ["after all"]


def test_who_may_not_listen_does_not(service: Running) -> None:
    assert service.http.get("/events").status_code == 401
    assert service.http.get("/events", headers={"Authorization": "Bearer nobody"}).status_code == 401
    ann = service.person("Ann")
    assert service.http.get("/events", headers={**ann, "Accept": "application/json"}).status_code == 406
    head = service.http.head("/events", headers=ann)
    assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream")


def test_a_caller_who_is_deleted_is_not_told_any_more(service: Running) -> None:
    ann = service.person("Ann")
    bob = service.person("Bob")
    with listening(service.http, ann) as stream:
        service.rows("DELETE FROM person WHERE name = 'Ann'")
        service.note(bob, "after")
        assert stream.rest() == []


def test_a_service_that_stops_ends_its_streams(tmp_path: Path) -> None:
    with running(tmp_path / "service.db") as service:
        ann = service.person("Ann")
        client = httpx.Client(base_url=service.url, timeout=60)
        response = client.send(client.build_request("GET", "/events", headers=ann), stream=True)
        assert response.status_code == 200
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.extend(response.iter_lines()))
        reading.start()
        began = time.monotonic()
    reading.join(60)
    assert not reading.is_alive() and time.monotonic() - began < 60
    assert [line for line in lines if line and line != ":"] == []
    client.close()


def test_a_client_that_does_not_read_holds_up_nobody(service: Running) -> None:
    ann = service.person("Ann")
    deaf = socket.create_connection((service.http.base_url.host, service.http.base_url.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(
        f"GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: {ann['Authorization']}\r\nLast-Event-ID: 0\r\n\r\n".encode()
    )
    for number in range(300):
        service.note(ann, f"{number} " + "x" * 70)
    assert len(told(service, ann, 0, 300)) == 300
    deaf.close()
