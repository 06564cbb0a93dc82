"""A stream that is resumed whenever the service was killed: every event once, in the order of commits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from random import Random

import httpx
import pytest
from tests.events.process import killing, process, rows
from tests.events.service import CONTRACT
from tests.events.stream import listening, over
from tests.slices import many
from websockets.exceptions import WebSocketException

pytestmark = [pytest.mark.serves, pytest.mark.slow, pytest.mark.long, pytest.mark.usefixtures("over")]
__all__ = ["over"]

PIECES, KILLS = many("KILLS", 300, 12, 2)


@pytest.mark.parametrize("part", PIECES)
def test_a_stream_skips_and_repeats_nothing(tmp_path: Path, part: int) -> None:
    contract, database = tmp_path / "contract.md", tmp_path / "service.db"
    contract.write_text(CONTRACT, encoding="utf-8")
    chance = Random(5 + part)
    headers: dict[str, str] = {}
    seen: list[tuple[str, str]] = []
    acknowledged: list[str] = []
    for kill in range(KILLS + 1):
        with process(contract, database) as (running, url), httpx.Client(base_url=url, timeout=60) as http:
            if not headers:
                person = http.post("/people", json={"name": "Ann", "role": "member"}).json()
                headers = {"Authorization": f"Bearer {person['token']}"}
            if kill == KILLS:
                last = rows(database, 'SELECT count(*) FROM "$event"')[0][0]
                _listen(url, headers, seen, last)
                break
            enough, told = len(acknowledged) + 20 + chance.randrange(80), len(seen) + 20
            with (
                killing(running, chance.random() / 50, (acknowledged, enough), (seen, told)),
                ThreadPoolExecutor(3) as pool,
            ):
                tasks = [pool.submit(_write, url, headers, acknowledged) for _ in range(2)]
                tasks.append(pool.submit(_listen, url, headers, seen, inf))
            for task in tasks:
                task.result()
    assert len(acknowledged) > 20 * KILLS
    logged = rows(database, "SELECT json_extract(row, '$[0]') FROM \"$event\" ORDER BY seq")
    assert [note for _, note in seen] == [note for (note,) in logged]
    assert {note for _, note in seen} == {id for (id,) in rows(database, "SELECT id FROM note")} >= {*acknowledged}


def _write(url: str, headers: dict[str, str], acknowledged: list[str]) -> None:
    """Notes, until the service is gone."""
    with httpx.Client(base_url=url, timeout=60, headers=headers) as http:
        try:
            while True:
                acknowledged.append(http.post("/notes", json={"title": "a"}).json()["id"])
        except httpx.TransportError:
            pass


def _listen(url: str, headers: dict[str, str], seen: list[tuple[str, str]], most: float) -> None:
    """Follow the stream from behind what was seen last, until the service is gone or so many events were seen."""
    with httpx.Client(base_url=url, timeout=60) as http:
        try:
            with listening(http, headers, seen[-1][0] if seen else 0) as stream:
                while len(seen) < most:
                    for event in stream.take(1):
                        seen.append((event.id, event.data["subject"]))
        except (httpx.TransportError, StopIteration, WebSocketException, OSError):
            pass
