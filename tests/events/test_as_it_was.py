"""Events that tell what a row was: of a change the row before it, of what is new nothing, of a deletion the row."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import CONTRACT, running
from tests.events.stream import listening
from tests.parts import in_two_versions

pytestmark = pytest.mark.serves

KINDS = """kinds:
  note.told: {upon: [create note, update note, finish note, delete note], payload: {was: before.note, is: note.title}}
  note.renamed:
    upon: update note
    where: note.title != before.note.title
    payload: {from: before.note.title, to: note.title, of: before.note.owner.name, mark: before.note.mark}
delivery:"""

CHANGES = (
    "{rename: note.title, to: text}",
    """{change: note.status, is: "note.status == 'draft' ? 'begun' : note.status"}""",
)


def contract() -> str:
    start, end = CONTRACT.index("kinds:\n"), CONTRACT.index("delivery:")
    text = in_two_versions(CONTRACT[:start] + KINDS + CONTRACT[end + len("delivery:") :], *CHANGES)
    mark = "    mark: {type: string, computed: \"note.title + (note.hidden ? '?' : '!')\"}\n    status:"
    return text.replace("    status:", mark, 1)


def test_an_event_tells_what_the_row_was(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", contract()) as service:
        ann, bob = service.person("Ann"), service.person("Bob", "staff")
        note = service.note(ann, "tea")
        service.http.patch(f"/notes/{note}", json={"title": "milk"}, headers=merging(ann))
        service.http.patch(f"/notes/{note}", json={"hidden": True}, headers=merging(ann))
        service.http.post(f"/notes/{note}/finish", headers=bob)
        service.http.delete(f"/notes/{note}", headers=bob)
        with listening(service.http, bob, 0) as stream:
            came = stream.take(6)
        with listening(service.http, {**bob, "Api-Version": "1"}, 0) as stream:
            assert stream.accepted
            older = stream.take(6)
    told = [event.data["data"] for event in came if event.kind == "note.told"]
    assert told[0] == {"is": "tea"}
    assert [each["was"]["title"] for each in told[1:]] == ["tea", "milk", "milk", "milk"]
    assert [each["was"]["hidden"] for each in told[1:]] == [False, False, True, True]
    assert [each["was"]["status"] for each in told[1:]] == ["draft", "draft", "draft", "done"]
    assert [each["was"]["mark"] for each in told[1:]] == ["tea!", "milk!", "milk?", "milk?"]
    # `when` compares the row with what it was: the second change is no new name.
    [renamed] = [event.data["data"] for event in came if event.kind == "note.renamed"]
    assert renamed == {"from": "tea", "to": "milk", "of": "Ann", "mark": "tea!"}
    # In an older version the row was what that shows of it.
    then = [event.data["data"] for event in older if event.kind == "note.told"]
    assert [(each["was"]["text"], each["was"]["status"]) for each in then[1:]] == [
        ("tea", "begun"), ("milk", "begun"), ("milk", "begun"), ("milk", "done")
    ]  # fmt: skip


def merging(headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "Content-Type": "application/merge-patch+json"}
