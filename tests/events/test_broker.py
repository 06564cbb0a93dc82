"""Events that are sent to a NATS server: in their order, at least once, through its absence and the service's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.door.fronts import tapped
from tests.events.broker import Broker, Message, broker
from tests.events.service import CONTRACT, Running, plan_of, running
from tests.parts import in_two_versions
from tests.server.authority import Authority
from tests.waiting import until

import ninefold
from ninefold.runtime.background.brokers import to_broker

pytestmark = pytest.mark.serves

IN_VERSIONS = in_two_versions(
    CONTRACT,
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
    with running(tmp_path / "service.db", broker=nats.address) as service:
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
    with running(tmp_path / "service.db", broker=nats.address) as service:
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
    with running(tmp_path / "service.db", broker=nats.address) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        time.sleep(0.5)
        assert position(service) == 0
        nats.keep("note.>")
        assert [told(each) for each in nats.until(1)] == [("note.written", "tea")]


def test_what_was_sent_and_not_noted_is_sent_again_and_kept_once(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db", broker=nats.address) as service:
        ann = service.person("Ann")
        service.note(ann, "tea")
        service.note(ann, "milk")
        nats.until(2)
    # As if the process had died between the broker's word and the note of it.
    import apsw

    connection = apsw.Connection(str(tmp_path / "service.db"))
    connection.execute('UPDATE "$broker" SET position = 0')
    connection.close()
    with running(tmp_path / "service.db", broker=nats.address) as service:
        service.note(ann, "bread")
        came = nats.until(3)
    assert [told(each)[1] for each in came] == ["tea", "milk", "bread"]


def test_a_broker_that_is_added_is_sent_what_happens_from_then_on(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db") as service:
        ann = service.person("Ann")
        service.note(ann, "before")
    with running(tmp_path / "service.db", broker=nats.address) as service:
        service.note(ann, "after")
        came = nats.until(1)
    assert [told(each)[1] for each in came] == ["after"]


def test_messages_are_as_the_newest_version_has_them(tmp_path: Path, nats: Broker) -> None:
    nats.keep("note.>")
    with running(tmp_path / "service.db", IN_VERSIONS, broker=nats.address) as service:
        ann = service.person("Ann")
        made = service.http.post("/notes", json={"text": "tea"}, headers={**ann, "Api-Version": "1"})
        note = made.json()["id"]
        service.http.post(f"/notes/{note}/finish", headers=ann)
        service.note({**ann, "Api-Version": "2"}, "milk")
        service.note({**ann, "Api-Version": "2"}, "the last")
        came = nats.until(4)
    ends = [("note.written", "milk"), ("note.written", "the last")]
    assert [told(each) for each in came] == [("note.written", "tea"), ("note.finished", None), *ends]


KINDS = ["note.written", "note.finished", "note.deleted"]


@pytest.mark.parametrize(
    ("kinds", "address", "told"),
    [
        (
            [*KINDS, "note written"],
            "nats://127.0.0.1:4222",
            "the kind `note written` cannot be the subject of a message",
        ),
        ([*KINDS, "note.*"], "nats://127.0.0.1:4222", "the kind `note.*` cannot be the subject"),
        (KINDS, "127.0.0.1:4222", "the address of a broker begins with nats:// or tls://"),
    ],
)
def test_what_no_broker_takes_is_told_before_the_start(kinds: list[str], address: str, told: str) -> None:
    found = to_broker(plan_of(), kinds, address)
    assert isinstance(found, str) and told in found


def test_a_library_takes_a_broker_too(tmp_path: Path, nats: Broker) -> None:
    (tmp_path / "contract.md").write_text(CONTRACT, encoding="utf-8")
    ninefold.application(tmp_path / "contract.md", database=str(tmp_path / "a.db"), broker=nats.address).close()
    with pytest.raises(ValueError, match="the address of a broker"):
        ninefold.application(tmp_path / "contract.md", database=str(tmp_path / "b.db"), broker="localhost")


def test_a_broker_is_told_nothing_in_the_clear_where_its_address_asks_for_tls(
    tmp_path: Path, nats: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    nats.keep("note.>")
    with tapped(("127.0.0.1", nats.port)) as tap:
        address = f"tls://ann:hunter2@127.0.0.1:{tap.address[1]}"
        with running(tmp_path / "service.db", broker=address) as service:
            service.note(service.person("Ann"), "tea")
            until(lambda: "the broker speaks no TLS" in caplog.text)
    assert "hunter2" not in caplog.text and not b"".join(bytes(each) for each in tap.connections)


@pytest.mark.parametrize("name", ["localhost", "broker.example"])
def test_a_broker_over_tls_is_known_by_its_certificate(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "authority").mkdir()
    authority = Authority(tmp_path / "authority")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    own = authority.server(name)
    with broker(tmp_path / "nats", own) as there:
        if name == "localhost":
            there.keep("note.>")
        with running(tmp_path / "service.db", broker=there.address) as service:
            service.note(service.person("Ann"), "tea")
            if name == "localhost":
                assert told(there.until(1)[0]) == ("note.written", "tea")
            else:
                until(lambda: "its certificate is not taken: Hostname mismatch" in caplog.text)
