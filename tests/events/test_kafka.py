"""Events that are sent to Kafka: each row's in their order, at least once, through the broker's absence and the
service's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import apsw
import msgspec
import pytest
from tests.events.broker import broker
from tests.events.kafka import TOPIC, Kafka, Message, kafka, kept_by
from tests.events.kafka_front import PASSWORD, USER, Front, front
from tests.events.kafka_mock import MISSING, NO_RIGHTS, NONE, TOO_LARGE, mock
from tests.events.service import Running, plan_of, running
from tests.server.authority import Authority
from tests.waiting import until

from ninefold.runtime.background import kafka as sending
from ninefold.runtime.background.brokers import to_broker
from ninefold.runtime.background.kafka_address import Topic, topic_of

pytestmark = pytest.mark.serves


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Kafka]:
    with kafka(tmp_path / "kafka") as found:
        found.make()
        yield found


def told(message: Message) -> tuple[str, str | None]:
    return message.headers["type"], msgspec.json.decode(message.data)["data"].get("title")


def of_rows(messages: Sequence[Message]) -> dict[str, list[str]]:
    """The ids of what came of each row, in the order in which it came. A row is in one partition."""
    found = defaultdict(list)
    where: dict[str, int] = {}
    for each in messages:
        found[each.key].append(each.headers["id"])
        assert where.setdefault(each.key, each.partition) == each.partition
    return dict(found)


def test_each_event_is_a_message_with_the_key_of_its_row(tmp_path: Path, there: Kafka) -> None:
    with running(tmp_path / "service.db", broker=there.address) as service:
        ann = service.person("Ann")
        first, second = service.note(ann, "tea"), service.note(ann, "milk")
        service.http.post(f"/notes/{first}/finish", headers=ann)
        service.http.delete(f"/notes/{first}", headers=ann)
        came = there.until(4)
        log = service.rows('SELECT id FROM "$event" ORDER BY seq')
    ids = [id for (id,) in log]
    assert of_rows(came) == {f"note/{first}": [ids[0], ids[2], ids[3]], f"note/{second}": [ids[1]]}
    of_first = [told(each) for each in came if each.key == f"note/{first}"]
    assert of_first == [("note.written", "tea"), ("note.finished", None), ("note.deleted", "tea")]
    assert {each.headers["content-type"] for each in came} == {"application/cloudevents+json"}
    event = msgspec.json.decode(came[0].data)
    assert event["id"] == came[0].headers["id"] and event["type"] == came[0].headers["type"]


def test_what_was_sent_and_not_noted_comes_again_under_its_id(tmp_path: Path, there: Kafka) -> None:
    with running(tmp_path / "service.db", broker=there.address) as service:
        ann = service.person("Ann")
        note = service.note(ann, "tea")
        there.until(1)
    # As if the process had died between the broker's word and the note of it.
    connection = apsw.Connection(str(tmp_path / "service.db"))
    connection.execute('UPDATE "$broker" SET position = 0')
    connection.close()
    with running(tmp_path / "service.db", broker=there.address) as service:
        service.http.delete(f"/notes/{note}", headers=ann)
        [(_, came)] = of_rows(there.until(3)).items()
        [(first,), (second,)] = service.rows('SELECT id FROM "$event" ORDER BY seq')
    assert came == [first, first, second]


@pytest.fixture
def way(tmp_path: Path) -> Iterator[tuple[Kafka, Front]]:
    """A broker that is reached by a way that can be closed."""
    with front() as before, kafka(tmp_path / "kafka", before.port) as found:
        before.to = found.port
        found.make()
        yield found, before


def test_events_wait_for_a_broker_that_is_away_and_come_once_in_the_order_of_each_row(
    tmp_path: Path, way: tuple[Kafka, Front], caplog: pytest.LogCaptureFixture
) -> None:
    there, before = way
    with running(tmp_path / "service.db", broker=there.address) as service:
        ann = service.person("Ann")
        notes = [service.note(ann, "first")]
        there.until(1)
        before.close()
        for number in range(40):
            notes.append(service.note(ann, str(number)))
            service.http.post(f"/notes/{notes[-2]}/finish", headers=ann)
        until(lambda: "the broker takes no event: no connection" in caplog.text, lambda: caplog.text)
        service.http.delete(f"/notes/{notes[0]}", headers=ann)
        before.open()
        came = there.until(82)
        until(lambda: position(service) == 82)  # noted once the broker has answered
        log = service.rows('SELECT id, row FROM "$event" ORDER BY seq')
    assert of_rows(came) == in_rows(log)
    # It is told when it begins.
    assert caplog.text.count("the broker takes no event") == 1


def test_what_is_cut_off_on_its_way_comes_once(tmp_path: Path, way: tuple[Kafka, Front]) -> None:
    """The broker may have kept what it was sent, and its word for that be lost."""
    there, before = way
    with running(tmp_path / "service.db", broker=there.address) as service:
        ann = service.person("Ann")
        for number in range(60):
            note = service.note(ann, str(number))
            service.http.delete(f"/notes/{note}", headers=ann)
            if number % 3 == 0:
                before.cut()
        until(lambda: position(service) == 120, lambda: position(service))
        log = service.rows('SELECT id, row FROM "$event" ORDER BY seq')
        assert of_rows(there.kept()) == in_rows(log)


def test_a_broker_that_forgot_who_sends_is_sent_the_rest(
    tmp_path: Path, there: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins anew, with nothing: not even with what the client counts on."""
    monkeypatch.setattr(sending, "_STUCK", 0.0)
    with running(tmp_path / "service.db", broker=there.address) as service:
        ann = service.person("Ann")
        for number in range(5):
            service.note(ann, str(number))
        there.until(5)
        until(lambda: position(service) == 5)
        there.kill()
        for number in range(5, 15):
            service.note(ann, str(number))
        there.start()
        came = there.until(10)
        log = service.rows('SELECT id, row FROM "$event" WHERE seq > 5 ORDER BY seq')
    assert of_rows(came) == in_rows(log)


def test_another_broker_goes_on_where_the_one_before_it_was(tmp_path: Path, there: Kafka) -> None:
    with broker(tmp_path / "nats") as nats, running(tmp_path / "service.db", broker=nats.address) as service:
        nats.keep("note.>")
        ann = service.person("Ann")
        service.note(ann, "tea")
        nats.until(1)
        until(lambda: position(service) == 1)
    with running(tmp_path / "service.db", broker=there.address) as service:
        service.note(ann, "milk")
        assert [told(each) for each in there.until(1)] == [("note.written", "milk")]


def position(service: Running) -> int:
    return int(service.rows('SELECT position FROM "$broker"')[0][0])


def in_rows(log: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for id, row in log:
        found[f"note/{msgspec.json.decode(row)[0]}"].append(id)
    return dict(found)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"])
def test_a_user_is_known_over_tls_by_its_password(mechanism: str, tmp_path: Path) -> None:
    (tmp_path / "authority").mkdir()
    authority = Authority(tmp_path / "authority")
    with front(authority.server(), mechanism) as before, kafka(tmp_path / "kafka", before.port) as there:
        before.to = there.port
        more = "" if mechanism == "SCRAM-SHA-512" else f"&sasl_mechanism={mechanism}"
        address = address_of(before, "kafkas", PASSWORD) + f"?ssl_ca_certs={authority.file}{more}"
        with running(tmp_path / "service.db", broker=address) as service:
            service.note(service.person("Ann"), "tea")
            until(lambda: position(service) == 1)
    assert mechanism in before.agreed
    assert (PASSWORD.encode() in before.heard) == (mechanism == "PLAIN")


def test_a_password_is_not_told_where_there_is_no_tls(tmp_path: Path) -> None:
    with front(mechanism="SCRAM-SHA-512") as before, kafka(tmp_path / "kafka", before.port) as there:
        before.to = there.port
        with running(tmp_path / "service.db", broker=address_of(before, "kafka", PASSWORD)) as service:
            service.note(service.person("Ann"), "tea")
            until(lambda: position(service) == 1)
    assert before.agreed and PASSWORD.encode() not in before.heard
    refused = to_broker(plan_of(), [], address_of(before, "kafka", PASSWORD) + "?sasl_mechanism=PLAIN")
    assert isinstance(refused, str) and "PLAIN tells the password in the clear" in refused


def address_of(before: Front, scheme: str, password: str) -> str:
    return f"{scheme}://{USER}:{quote(password, safe='')}@localhost:{before.port}/{TOPIC}"


AWAY = {
    "password": "it does not take the user and the password",
    "mechanism": "it does not take the mechanism SCRAM-SHA-256 (sasl_mechanism)",
    "authority": "its certificate is not taken",
    "name": "its certificate is not taken",
    "no TLS": "no connection",
    "no host": "its host is not found",
    "no port": "no connection",
    "no file": "a file of TLS cannot be used",
}


@pytest.mark.parametrize("wrong", AWAY)
def test_why_a_broker_takes_nothing_is_told(wrong: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "authority").mkdir()
    authority = Authority(tmp_path / "authority")
    own = authority.server("broker.example" if wrong == "name" else "localhost")
    with (
        front(None if wrong == "no TLS" else own, "SCRAM-SHA-512") as before,
        kafka(tmp_path / "kafka", before.port) as there,
    ):
        before.to = there.port
        parts = [] if wrong == "authority" else [f"ssl_ca_certs={authority.file}"]
        parts = [f"ssl_ca_certs={tmp_path}/nowhere.pem"] if wrong == "no file" else parts
        parts += ["sasl_mechanism=SCRAM-SHA-256"] if wrong == "mechanism" else []
        address = address_of(before, "kafkas", "another" if wrong == "password" else PASSWORD)
        address = f"{address}?{'&'.join(parts)}"
        if wrong == "no host":
            address = address.replace("localhost", "nowhere.invalid")
        if wrong == "no port":
            before.close()
        with running(tmp_path / "service.db", broker=address) as service:
            service.note(service.person("Ann"), "tea")
            until(lambda: f"the broker takes no event: {AWAY[wrong]}" in caplog.text, lambda: caplog.text)
            assert position(service) == 0
    assert not before.agreed and PASSWORD not in caplog.text
    if wrong not in ("password", "mechanism"):
        assert PASSWORD.encode() not in before.heard


@pytest.mark.parametrize(
    ("error", "words"), [(MISSING, "it has no such topic"), (NO_RIGHTS, "the user may not write to the topic")]
)
def test_by_the_mock_of_librdkafka_the_log_waits_for_its_topic(
    error: int, words: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mock() as there:
        there.topic(error)
        with running(tmp_path / "service.db", broker=there.address) as service:
            service.note(service.person("Ann"), "tea")
            until(lambda: f"the broker takes no event: {words}" in caplog.text, lambda: caplog.text)
            assert position(service) == 0
            there.topic(NONE)
            until(lambda: position(service) == 1)


def test_by_the_mock_of_librdkafka_nothing_of_a_partition_overtakes_what_was_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mock() as there:
        there.produce(*[TOO_LARGE] * 4)
        with running(tmp_path / "service.db", broker=there.address) as service:
            ann = service.person("Ann")
            for number in range(30):
                note = service.note(ann, str(number))
                service.http.delete(f"/notes/{note}", headers=ann)
            until(lambda: position(service) == 60, lambda: position(service))
            log = service.rows('SELECT id, row FROM "$event" ORDER BY seq')
        assert "an event is larger than the topic takes" in caplog.text
        came = of_rows(kept_by({"bootstrap.servers": there.servers}))
    for row, ids in in_rows(log).items():
        # Where something came again, all of the row did that came after it.
        assert came[row][-len(ids) :] == ids and set(came[row]) == set(ids)
        assert came[row][0] == ids[0]


ADDRESSES = [
    ("kafka://one:9092,two/orders.log", {"bootstrap.servers": "one:9092,two:9092", "security.protocol": "plaintext"}),
    ("kafkas://[::1]/log", {"bootstrap.servers": "[::1]:9092", "security.protocol": "ssl"}),
    (
        "kafkas://one/log?ssl_certfile=/a.pem&ssl_keyfile=/b.pem",
        {
            "bootstrap.servers": "one:9092",
            "ssl.certificate.location": "/a.pem",
            "ssl.key.location": "/b.pem",
            "security.protocol": "ssl",
        },
    ),
    (
        "kafkas://a%40b:x%2Fy@one/log?sasl_mechanism=PLAIN",
        {
            "bootstrap.servers": "one:9092",
            "security.protocol": "sasl_ssl",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "a@b",
            "sasl.password": "x/y",
        },
    ),
]


@pytest.mark.parametrize(("address", "settings"), ADDRESSES)
def test_an_address_says_how_a_topic_is_reached(address: str, settings: dict[str, str]) -> None:
    found = topic_of(address)
    assert isinstance(found, Topic) and found.settings == settings and address.count(f"/{found.name}") == 1


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("kafka://one:9092", "a topic stands behind the hosts"),
        ("kafka://one:9092/a/b", "a topic stands behind the hosts"),
        ("kafka://one:9092/..", "a topic stands behind the hosts"),
        ("kafka://one:9092/log#hunter2", "a topic stands behind the hosts"),
        ("kafka:///log", "its hosts are none"),
        ("kafka://one,,two/log", "its hosts are none"),
        ("kafka://one:hunter2/log", "its hosts are none"),
        ("kafka://[hunter2/log", "the address is none"),
        ("kafka://one/log?acks=hunter2", "its parameters are"),
        ("kafkas://one/log?ssl_certfile=hunter2", "ssl_certfile and ssl_keyfile go together"),
        ("kafka://one/log?ssl_ca_certs=hunter2", "begins with kafkas://"),
        ("kafkas://hunter2@one/log", "a user stands there with a password"),
        ("kafkas://ann:hunter2@one/log?sasl_mechanism=GSSAPI", "the mechanisms are"),
        ("kafkas://one/log?sasl_mechanism=PLAIN", "is of a user"),
    ],
)
def test_an_address_of_no_topic_is_told_before_the_start(address: str, words: str) -> None:
    found = to_broker(plan_of(), [], address)
    assert isinstance(found, str) and words in found and "hunter2" not in found
