"""Events that are sent to a NATS server: in their order, at least once, through its absence and the service's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.events.broker import Broker, Message, broker
from tests.events.service import CONTRACT, Running, plan_of, running
from tests.parts import in_two_versions

from ninefold.cli.announcement import remarks

pytestmark = pytest.mark.serves

TO_BROKER = CONTRACT.replace("kept: P7D\n", "  broker: operator.broker\nkept: P7D\n")
IN_VERSIONS = in_two_versions(
    TO_BROKER,
    "{rename: note.title, to: text}",
    "{rename: note.written, to: note.made}",
    "{add: note.ended, was: {upon: finish note, payload: {id: note.id}}}",
    default='"1"',
)


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[Broker]:
    with broker(tmp_path / "nats") as found:
        yield found


def told(message: Message) -> tuple[str, str | None]:
    return message.subject, msgspec.json.decode(message.data)["data"].get("title")


def position(service: Running) -> int:
    return int(service.rows('SELECT position FROM "$broker"')[0][0])


def test_each_event_is_a_message_of_its_kind(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db", TO_BROKER, given={"broker": nats.address}) as service:
        ann, bob = service.person("Ann"), service.person("Bob")
        first = service.note(ann, "tea")
        service.note(bob, "milk")
        service.http.post(f"/notes/{first}/finish", headers=ann)
        service.http.delete(f"/notes/{first}", headers=ann)
        came = nats.until(4)
        log = service.rows('SELECT id, kind, payload FROM "$event" ORDER BY seq')
    expected = [("note.written", "tea"), ("note.written", "milk"), ("note.finished", None), ("note.deleted", "tea")]
    assert [told(each) for each in came] == expected
    assert [each.headers["Nats-Msg-Id"] for each in came] == [id for id, _, _ in log]
    assert {each.headers["Content-Type"] for each in came} == {"application/cloudevents+json"}
    event = msgspec.json.decode(came[0].data)
    assert (event["type"], event["source"], event["subject"]) == ("note.written", "/notes", first)


def test_events_wait_for_a_broker_that_is_away_and_keep_their_order(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db", TO_BROKER, given={"broker": nats.address}) as service:
        ann = service.person("Ann")
        service.note(ann, "0")
        nats.until(1)
        nats.kill()
        for number in range(1, 120):
            service.note(ann, str(number))
        nats.start()
        for number in range(120, 130):
            service.note(ann, str(number))
        came = nats.until(130)
    assert [told(each)[1] for each in came] == [str(number) for number in range(130)]


def test_where_nothing_keeps_a_subject_the_log_waits(tmp_path: Path, nats: Broker) -> None:
    with running(tmp_path / "service.db", TO_BROKER, given={"broker": nats.address}) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        time.sleep(0.5)
        assert position(service) == 0
        nats.keep("note.>")
        assert [told(each) for each in nats.until(1)] == [("note.written", "tea")]


def test_what_was_sent_and_not_noted_is_sent_again_and_kept_once(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    given = {"broker": nats.address}
    with running(tmp_path / "service.db", TO_BROKER, given=given) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        service.note(ann, "milk")
        nats.until(2)
    # As if the process had died between the broker's word and the note of it.
    import apsw

    connection = apsw.Connection(str(tmp_path / "service.db"))
    connection.execute('UPDATE "$broker" SET position = 0')
    connection.close()
    with running(tmp_path / "service.db", TO_BROKER, given=given) as service:
        service.note(ann, "bread")
        came = nats.until(3)
    assert [told(each)[1] for each in came] == ["tea", "milk", "bread"]


def test_a_broker_that_is_added_is_sent_what_happens_from_then_on(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db") as service:
        ann = service.person("Ann")
        service.note(ann, "before")
    with running(tmp_path / "service.db", TO_BROKER, given={"broker": nats.address}) as service:
        service.note(ann, "after")
        came = nats.until(1)
    assert [told(each)[1] for each in came] == ["after"]


def test_messages_are_as_the_newest_version_has_them(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db", IN_VERSIONS, given={"broker": nats.address}) as service:
        ann = service.person("Ann")
        made = service.http.post("/notes", json={"text": "tea"}, headers={**ann, "Api-Version": "1"})
        note = made.json()["id"]
        service.http.post(f"/notes/{note}/finish", headers=ann)
        service.note({**ann, "Api-Version": "2"}, "milk")
        came = nats.until(3)
        time.sleep(0.3)
        assert len(nats.kept()) == 3
    assert [told(each) for each in came] == [("note.written", "tea"), ("note.finished", None), ("note.written", "milk")]


def test_without_an_address_nothing_is_sent_and_all_else_is_served(tmp_path: Path) -> None:
    said = "\n".join(remarks(plan_of(TO_BROKER), (), "contract.md"))
    assert "operator.broker: nothing is sent to a broker; --set broker=VALUE gives it" in said
    with running(tmp_path / "service.db", TO_BROKER) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        assert position(service) == 0
