"""A service that is killed while it delivers: every event arrives at least once, in the order of its row."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from random import Random

import httpx
import pytest
from tests.events.process import killing, process, rows
from tests.events.receiver import Answer, receiving
from tests.events.service import CONTRACT
from tests.slices import many
from tests.waiting import until

pytestmark = [pytest.mark.serves, pytest.mark.slow, pytest.mark.long]

PIECES, KILLS = many("KILLS", 300, 12, 2)
"""How often the service is killed."""

MANY = CONTRACT.replace("attempts: 3, backoff: [PT0.05S, PT0.2S]", "attempts: 100, backoff: [PT0.05S]")


@pytest.mark.parametrize("part", PIECES)
def test_no_event_is_lost_however_often_the_service_is_killed(tmp_path: Path, part: int) -> None:
    contract, database = tmp_path / "contract.md", tmp_path / "service.db"
    contract.write_text(MANY, encoding="utf-8")
    chance, acknowledged = Random(11 + part), list[tuple[str, str]]()

    def answer(number: int) -> Answer:
        dice = chance.random()
        return Answer(500) if dice < 0.3 else Answer(204, wait=0.3) if dice < 0.33 else Answer(204)

    with receiving(answer) as receiver:
        headers: dict[str, str] = {}
        for kill in range(KILLS + 1):
            with process(contract, database) as (running, url), httpx.Client(base_url=url, timeout=60) as http:
                if not headers:
                    person = http.post("/people", json={"name": "Ann", "role": "member"}).json()
                    headers = {"Authorization": f"Bearer {person['token']}"}
                    kinds = ["note.written", "note.changed"]
                    http.post("/webhooks", json={"url": receiver.url, "kinds": kinds}, headers=headers)
                if kill == KILLS:
                    _until_all_is_delivered(database)
                    break
                enough = len(acknowledged) + 20 + chance.randrange(100)
                with (
                    killing(running, chance.random() / 50, (acknowledged, enough)),
                    suppress(httpx.TransportError),
                ):
                    while True:
                        note = http.post("/notes", json={"title": "0"}, headers=headers)
                        acknowledged.append((note.json()["id"], "note.written"))
                        for title in "12":
                            changed = http.patch(
                                f"/notes/{acknowledged[-1][0]}", json={"title": title}, headers=headers
                            )
                            assert changed.status_code == 200
                            acknowledged.append((note.json()["id"], "note.changed"))
        delivered = [each.json for each in receiver.good()]
    assert len(acknowledged) > 20 * KILLS
    logged = rows(database, "SELECT id, kind, json_extract(row, '$[0]') FROM \"$event\" ORDER BY seq")
    # Nothing that was acknowledged is without its event, and no event is without its row.
    counts = defaultdict[tuple[str, str], int](int)
    for _, kind, row in logged:
        counts[row, kind] += 1
    for done in set(acknowledged):
        assert counts[done] >= acknowledged.count(done)
    assert {row for _, _, row in logged} == {row for (row,) in rows(database, "SELECT id FROM note")}
    # Each of them came, and those of one row in order: a repetition is of what came before.
    assert {each["id"] for each in delivered} == {id for id, _, _ in logged}
    order = {id: number for number, (id, _, _) in enumerate(logged)}
    first: dict[str, list[int]] = defaultdict(list)
    seen: set[str] = set()
    for each in delivered:
        if each["id"] not in seen:
            seen.add(each["id"])
            first[each["subject"]].append(order[each["id"]])
    assert all(numbers == sorted(numbers) for numbers in first.values())


def _until_all_is_delivered(database: Path) -> None:
    until(
        lambda: not rows(database, 'SELECT 1 FROM "$delivery" LIMIT 1'),
        lambda: rows(database, 'SELECT count(*), min(due), max(attempts) FROM "$delivery"'),
    )
