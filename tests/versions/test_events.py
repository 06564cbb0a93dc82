"""Events in several versions: a stream tells of them as the version of its request has them, a subscription as that in
which it was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.receiver import receiving
from tests.events.service import CONTRACT, running
from tests.events.stream import listening
from tests.parts import in_two_versions

from ninefold.cli import main

pytestmark = pytest.mark.serves

WITH_VERSIONS = in_two_versions(
    CONTRACT,
    "{rename: note.title, to: text}",
    "{rename: note.written, to: note.made}",
    "{remove: note.finished}",
    "{add: note.ended, was: {upon: finish note, payload: {id: note.id, over: 'true'}}}",
)
OLD = {"Api-Version": "1"}


def test_a_stream_tells_of_events_as_its_version_has_them(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", WITH_VERSIONS) as service:
        ann = service.person("Ann")
        note = service.note(ann, "tea")
        older = service.http.post("/notes", json={"text": "milk"}, headers={**ann, **OLD}).json()
        assert older["text"] == "milk"
        service.http.post(f"/notes/{note}/finish", headers=ann)
        with listening(service.http, ann, 0) as stream:
            newest = stream.take(3)
        with listening(service.http, {**ann, **OLD}, 0) as stream:
            came = stream.take(3)
        # Where a stream goes on belongs to the version in which it was told.
        elsewhere = service.http.get("/events", headers={**ann, "Last-Event-ID": came[0].id})
        assert elsewhere.status_code == 422
        with listening(service.http, {**ann, **OLD}, came[1].id) as stream:
            assert [event.kind for event in stream.take(1)] == ["note.ended"]
    assert [event.kind for event in newest] == ["note.written", "note.written", "note.finished"]
    assert [event.data["data"]["title"] for event in newest[:2]] == ["tea", "milk"]
    assert [event.kind for event in came] == ["note.made", "note.made", "note.ended"]
    assert [event.data["type"] for event in came] == ["note.made", "note.made", "note.ended"]
    assert [event.data["data"]["text"] for event in came[:2]] == ["tea", "milk"]
    assert "title" not in came[0].data["data"] and came[2].data["data"] == {"id": note, "over": True}


def test_a_subscription_is_told_in_the_version_in_which_it_was_made(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", WITH_VERSIONS) as service, receiving() as new, receiving() as old:
        ann = service.person("Ann")
        service.subscribe(ann, new.url, "note.written", "note.finished")
        wrong = service.http.post("/webhooks", json={"url": old.url, "kinds": ["note.written"]}, headers={**ann, **OLD})
        assert wrong.status_code == 422
        service.subscribe({**ann, **OLD}, old.url, "note.made", "note.ended")
        note = service.note(ann, "tea")
        service.http.post(f"/notes/{note}/finish", headers={**ann, **OLD})
        assert [came.json["type"] for came in new.until(2)] == ["note.written", "note.finished"]
        assert [came.json["type"] for came in old.until(2)] == ["note.made", "note.ended"]
        assert new.came[0].json["data"]["title"] == old.came[0].json["data"]["text"] == "tea"


def test_what_was_subscribed_to_before_there_were_versions_is_told_as_the_default_has_it(tmp_path: Path) -> None:
    with receiving() as receiver:
        with running(tmp_path / "service.db") as service:
            ann = service.person("Ann")
            service.subscribe(ann, receiver.url, "note.written")
            service.note(ann, "tea")
            receiver.until(1)
        with running(tmp_path / "service.db", WITH_VERSIONS) as service:
            service.note(ann, "milk")
            assert [came.json["data"]["title"] for came in receiver.until(2)] == ["tea", "milk"]
            # An event that is older than all versions is in every version what it was, or of no kind that it has.
            with listening(service.http, ann, 0) as stream:
                assert [event.data["data"]["title"] for event in stream.take(2)] == ["tea", "milk"]
            with listening(service.http, {**ann, **OLD}, 0) as stream:
                assert [event.data["data"]["text"] for event in stream.take(1)] == ["milk"]


def test_what_is_delivered_again_is_what_its_version_called_so(tmp_path: Path) -> None:
    contract = tmp_path / "contract.md"
    contract.write_text(WITH_VERSIONS, encoding="utf-8")
    with running(tmp_path / "service.db", WITH_VERSIONS) as service, receiving() as old:
        ann = service.person("Ann")
        service.subscribe({**ann, **OLD}, old.url, "note.made")
        service.note(ann, "tea")
        old.until(1)
        assert main(["events", str(contract), "replay", "--event", "1", "--database", str(service.path)]) == 0
        assert [came.json["type"] for came in old.until(2)] == ["note.made", "note.made"]
