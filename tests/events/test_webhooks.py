"""Webhooks, with receivers that take, fail, stall, redirect and lie."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import apsw
import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from standardwebhooks import Webhook, WebhookVerificationError
from tests.events.receiver import Answer, receiving
from tests.events.service import Running, running
from tests.waiting import until

from ninefold.runtime.background.sender import REFUSED
from ninefold.runtime.sources import Sources
from ninefold.runtime.store import reads
from ninefold.runtime.store.protocol import Row
from ninefold.sql.events import DUE

pytestmark = pytest.mark.serves


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db") as service:
        yield service


def left(service: Running) -> list[tuple[int, int, str | None]]:
    """What is still to be delivered: position, attempts, why no further one is made."""
    return service.rows('SELECT event, attempts, dead FROM "$delivery" ORDER BY event')


def until_left(service: Running, wanted: list[tuple[int, int, str | None]]) -> None:
    until(lambda: left(service) == wanted, lambda: left(service))


def test_a_delivery_is_signed_as_the_official_library_verifies(service: Running) -> None:
    ann = service.person("Ann")
    with receiving() as receiver:
        made = service.subscribe(ann, receiver.url)
        assert made["secret"].startswith("whsec_") and made["url"] == receiver.url
        note = service.note(ann, "tea")
        [came] = receiver.until(1)
    verified = Webhook(made["secret"]).verify(came.body, came.headers)
    assert verified["subject"] == note and verified["type"] == "note.written"
    with pytest.raises(WebhookVerificationError):
        Webhook(made["secret"]).verify(came.body + b" ", came.headers)
    assert came.headers["content-type"] == "application/cloudevents+json"
    event = from_structured_event(HTTPMessage({"content-type": came.headers["content-type"]}, came.body))
    assert event.get_id() == came.id
    until_left(service, [])


def test_a_subscription_is_told_of_its_kinds_until_it_ends(service: Running) -> None:
    ann = service.person("Ann")
    with receiving() as receiver:
        made = service.subscribe(ann, receiver.url, "note.finished", "note.deleted")
        first = service.note(ann, "tea")
        service.http.post(f"/notes/{first}/finish", headers=ann)
        service.http.delete(f"/notes/{first}", headers=ann)
        assert [came.json["type"] for came in receiver.until(2)] == ["note.finished", "note.deleted"]
        shown = service.http.get("/webhooks", headers=ann).json()["items"]
        assert shown == [{"id": made["id"], "url": receiver.url, "kinds": ["note.finished", "note.deleted"]}]
        assert service.http.delete(f"/webhooks/{made['id']}", headers=ann).status_code == 204
        with receiving() as other:
            service.subscribe(ann, other.url, "note.finished")
            second = service.note(ann, "coffee")
            service.http.post(f"/notes/{second}/finish", headers=ann)
            other.until(1)
            until_left(service, [])
        assert len(receiver.came) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"url": "http://127.0.0.1:1/", "kinds": []},
        {"url": "http://127.0.0.1:1/", "kinds": ["note.eaten"]},
        {"url": "http://127.0.0.1:1/", "kinds": ["note.written", "note.written"]},
        {"url": "http://127.0.0.1:1/"},
        {"kinds": ["note.written"]},
        {"url": "ftp://example.com/", "kinds": ["note.written"]},
        {"url": "/hook", "kinds": ["note.written"]},
        {"url": "http://user:pass@example.com/", "kinds": ["note.written"]},
        {"url": "http:///hook", "kinds": ["note.written"]},
        {"url": "http://exam ple.com/", "kinds": ["note.written"]},
        {"url": "http://127.0.0.1:1/", "kinds": ["note.written"], "secret": "whsec_mine"},
    ],
)
def test_a_subscription_that_cannot_be_is_invalid(service: Running, body: dict[str, object]) -> None:
    assert service.http.post("/webhooks", json=body, headers=service.person("Ann")).status_code == 422


def test_attempts_wait_as_stated_and_then_the_letter_is_dead(service: Running) -> None:
    ann = service.person("Ann")
    with receiving(lambda number: Answer(500)) as receiver:
        service.subscribe(ann, receiver.url)
        service.note(ann, "tea")
        came = receiver.until(3)
        until_left(service, [(1, 3, "answered 500")])
        assert len(receiver.came) == 3
    waits = [later.at - earlier.at for earlier, later in pairwise(came)]
    assert 0.05 <= waits[0] < 30 and 0.2 <= waits[1] < 30
    assert len({each.id for each in came}) == 1


def test_what_fails_at_first_arrives(service: Running) -> None:
    ann = service.person("Ann")
    with receiving(lambda number: Answer(503 if number == 0 else 201, body=b"thanks")) as receiver:
        service.subscribe(ann, receiver.url)
        service.note(ann, "tea")
        assert [each.answered for each in receiver.until(2)] == [503, 201]
        until_left(service, [])


def test_a_receiver_that_is_gone_is_told_of_nothing_more(service: Running) -> None:
    ann = service.person("Ann")
    with receiving(lambda number: Answer(410)) as receiver, receiving() as other:
        service.subscribe(ann, receiver.url)
        service.subscribe(ann, other.url)
        service.note(ann, "tea")
        receiver.until(1)
        until_left(service, [(1, 0, "the receiver is gone (410)")])
        service.note(ann, "coffee")
        other.until(2)
        assert len(receiver.came) == 1


def test_redirects_are_failures(service: Running) -> None:
    ann = service.person("Ann")
    with receiving() as elsewhere, receiving(lambda number: Answer(307, {"location": elsewhere.url})) as receiver:
        service.subscribe(ann, receiver.url)
        service.note(ann, "tea")
        until_left(service, [(1, 3, "answered 307")])
        assert elsewhere.came == []


def test_who_has_too_much_to_do_is_left_alone(tmp_path: Path) -> None:
    ahead = timedelta()
    sources = Sources(clock=lambda: datetime.now(UTC) + ahead)
    answers = [Answer(429, {"retry-after": "3600"})]
    with running(tmp_path / "service.db", sources=sources) as service:
        ann = service.person("Ann")
        with receiving(lambda number: answers[number] if number < len(answers) else Answer()) as receiver:
            service.subscribe(ann, receiver.url)
            service.note(ann, "tea")
            receiver.until(1)
            until_left(service, [(1, 1, None)])
            with receiving() as other:
                service.subscribe(ann, other.url)
                service.note(ann, "coffee")
                other.until(1)
                until(lambda: len(left(service)) == 2, lambda: left(service))
            assert len(receiver.came) == 1
            ahead = timedelta(seconds=3601)
            receiver.until(3)
            until_left(service, [])


def test_private_addresses_are_refused_unless_they_are_allowed(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", allowed=()) as service:
        ann = service.person("Ann")
        with receiving() as receiver:
            port = receiver.url.rpartition(":")[2]
            service.subscribe(ann, receiver.url)
            service.subscribe(ann, f"http://localhost:{port}")
            service.subscribe(ann, f"http://[::ffff:127.0.0.1]:{port}")
            service.note(ann, "tea")
            until_left(service, [(1, 3, REFUSED)] * 3)
            assert receiver.came == []


def test_a_receiver_that_stalls_holds_up_nobody_else(service: Running) -> None:
    ann = service.person("Ann")
    told = threading.Event()
    with receiving(lambda number: Answer(until=told)) as slow, receiving() as quick:
        service.subscribe(ann, slow.url)
        service.subscribe(ann, quick.url)
        for number in range(40):
            service.note(ann, f"{number}")
        quick.until(40)
        told.set()


def test_what_ends_while_it_is_read_what_is_due_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every read is done in a thread, as it is where one takes long or the machine has much to do."""
    read, reading = reads.Long._rows, threading.Event()

    def late(self: reads.Long, connection: apsw.Connection, asked: reads._Asked) -> list[Row] | Exception:
        found = read(self, connection, asked)
        if asked.text == DUE:
            reading.set()
            time.sleep(0.5)
        return found

    monkeypatch.setattr(reads, "STEPS", 1)
    monkeypatch.setattr(reads, "BUDGET", -1.0)
    monkeypatch.setattr(reads.Long, "_rows", late)
    first = threading.Event()
    with (
        running(tmp_path / "service.db") as service,
        receiving(lambda number: Answer(until=None if number else first)) as receiver,
    ):
        ann = service.person("Ann")
        service.subscribe(ann, receiver.url)
        service.note(ann, "tea")
        receiver.until(1)
        reading.clear()
        service.note(ann, "milk")
        # The first is on its way when that is read, and at its end before that is had.
        assert reading.wait(60)
        first.set()
        receiver.until(2)
        until_left(service, [])
        assert len(receiver.came) == 2


def test_a_subscriber_is_told_of_rows_that_it_may_see(service: Running) -> None:
    ann, bob, staff = service.person("Ann"), service.person("Bob"), service.person("Sue", "staff")
    with receiving() as of_ann, receiving() as of_staff:
        service.subscribe(ann, of_ann.url)
        service.subscribe(staff, of_staff.url)
        service.note(bob, "Bob's")
        service.note(ann, "Ann's")
        assert [each.json["data"]["title"] for each in of_staff.until(2)] in (["Bob's", "Ann's"], ["Ann's", "Bob's"])
        assert [each.json["data"]["title"] for each in of_ann.until(1)] == ["Ann's"]
        until_left(service, [])
        assert len(of_ann.came) == 1


def test_a_subscriber_who_is_gone_is_told_of_nothing(service: Running) -> None:
    staff, bob = service.person("Sue", "staff"), service.person("Bob")
    with receiving() as receiver:
        service.subscribe(staff, receiver.url)
        service.rows("DELETE FROM person WHERE name = 'Sue'")
        service.note(bob, "tea")
        until_left(service, [])
        assert receiver.came == []


def test_events_of_one_row_come_in_order_although_receivers_fail(service: Running) -> None:
    chance = Random(5)
    ann = service.person("Ann")
    with receiving(lambda number: Answer(500 if chance.random() < 0.2 else 204)) as receiver:
        service.subscribe(ann, receiver.url)
        notes = [service.note(ann, f"{number}") for number in range(8)]
        for number in range(5):
            for note in notes:
                assert service.http.patch(f"/notes/{note}", json={"title": f"{number}"}, headers=ann).status_code == 200
        for note in notes:
            assert service.http.delete(f"/notes/{note}", headers=ann).status_code == 204
        until(lambda: all(dead is not None for _, _, dead in left(service)), lambda: left(service))
        good = receiver.good()
    dead = {position for position, _, why in left(service) if why is not None}
    assert len({each.id for each in good}) == 8 * 7 - len(dead)
    by_row: dict[str, list[str]] = defaultdict(list)
    for each in good:
        by_row[each.json["subject"]].append(each.json["time"])
    assert all(times == sorted(times) for times in by_row.values())
