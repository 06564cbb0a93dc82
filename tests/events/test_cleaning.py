"""Events go when no stream goes back to them and they have reached whom they were for, and no sooner."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.events.receiver import Answer, receiving
from tests.events.service import Running, running
from tests.events.test_webhooks import left, until_left

from ninefold.runtime.background import jobs
from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves


def positions(service: Running) -> list[int]:
    return [position for (position,) in service.rows('SELECT seq FROM "$event" ORDER BY seq')]


def until_positions(service: Running, wanted: list[int]) -> None:
    end = datetime.now() + timedelta(seconds=60)
    while positions(service) != wanted:
        assert datetime.now() < end, positions(service)


def test_what_is_kept_and_what_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FIRST", 0.05)
    monkeypatch.setattr(jobs, "EVERY", 0.05)
    ahead, broken = timedelta(), True
    sources = Sources(clock=lambda: datetime.now(UTC) + ahead)
    with (
        running(tmp_path / "service.db", sources=sources) as service,
        receiving(lambda number: Answer(500 if broken else 204)) as receiver,
    ):
        ann = service.person("Ann")
        service.note(ann, "told to nobody")
        service.subscribe(ann, receiver.url)
        service.note(ann, "given up")
        until_left(service, [(2, 3, "answered 500")])
        broken = False
        service.note(ann, "delivered")
        until_left(service, [(2, 3, "answered 500")])
        assert positions(service) == [1, 2, 3]
        ahead = timedelta(days=8)
        until_positions(service, [2])
        service.note(ann, "later")
        until_left(service, [(2, 3, "answered 500")])
        ahead = timedelta(days=31)
        until_positions(service, [])
        assert left(service) == []
        service.note(ann, "a position is never given again")
        until_positions(service, [5])
