"""Invariants hold of every row after every write, whichever row is written; and a write that they refuse would have
broken one. Held against a model of the rows in Python, over a long random row of writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import httpx
import pytest
from tests.http_cases import serving

from ninefold.pipeline import load

CONTRACT = Path(__file__).parent.parent / "cases" / "halls-that-are-never-too-full" / "contract.md"
WRITES = int(os.environ.get("NINEFOLD_WRITES", "500"))

Rows: TypeAlias = dict[str, dict[int, dict[str, Any]]]

REFERENCES = {
    "hall": {"owner": "set null", "kind": "set null"},
    "room": {"hall": "cascade"},
    "booking": {"room": "cascade"},
}
PATHS = {"owner": "owners", "kind": "kinds", "hall": "halls", "room": "rooms", "booking": "bookings", "quota": "quotas"}


def broken(rows: Rows) -> Iterator[str]:
    """The codes of the invariants that some row fails, as the contract says them."""
    halls, rooms, bookings = rows["hall"], rows["room"], rows["booking"]

    def rooms_of(hall: int) -> list[dict[str, Any]]:
        return [room for room in rooms.values() if room["hall"] == hall]

    for id, owner in rows["owner"].items():
        of_owner = [hall for hall, each in halls.items() if each["owner"] == id]
        if sum(room["seats"] for hall in of_owner for room in rooms_of(hall)) > owner["limit"]:
            yield "over_limit"
    for id, hall in halls.items():
        within = rooms_of(id)
        if hall["open"] and (hall["kind"] is None or not any(room["seats"] > 0 for room in within)):
            yield "unready"
        if sum(room["seats"] for room in within) > hall["seats"]:
            yield "too_full"
        if hall["kind"] is not None and rows["kind"][hall["kind"]]["name"] == "closed" and within:
            yield "closed"
        if hall["seats"] % 5 == 3 and hall["owner"] is None:
            yield "unowned"  # it reads its own row alone, and yet another write may break it: the owner is deleted
    for id, one in bookings.items():
        others = [each for other, each in bookings.items() if other != id and each["room"] == one["room"]]
        if any(each["from"] < one["to"] and one["from"] < each["to"] for each in others):
            yield "overlaps"
        if one["size"] > rooms[one["room"]]["seats"]:
            yield "too_large"
    if any(len(rooms) > quota["most"] for quota in rows["quota"].values()):
        yield "quota"


def deleted(rows: Rows, resource: str, id: int) -> None:
    del rows[resource][id]
    for other, references in REFERENCES.items():
        for field, what in references.items():
            if field == resource:
                for each in [each for each, row in rows[other].items() if row[field] == id]:
                    if what == "cascade":
                        deleted(rows, other, each)
                    else:
                        rows[other][each][field] = None


def values(random: Random, rows: Rows, resource: str) -> dict[str, Any]:
    def one_of(other: str) -> int | None:
        return random.choice([*rows[other]]) if rows[other] else None

    match resource:
        case "owner":
            return {"limit": random.randint(0, 60)}
        case "kind":
            return {"name": random.choice(["round", "closed"])}
        case "hall":
            return {
                "owner": random.choice([None, one_of("owner")]),
                "seats": random.randint(0, 40),
                "open": random.random() < 0.4,
                "kind": random.choice([None, one_of("kind")]),
            }
        case "room":
            return {"hall": one_of("hall"), "seats": random.randint(0, 15)}
        case "booking":
            start = random.randint(0, 12)
            return {"room": one_of("room"), "from": start, "to": start + 3, "size": random.randint(0, 12)}
        case _:
            return {"most": random.randint(4, 12)}


def write(random: Random, rows: Rows, client: httpx.Client) -> str:
    """One write, of the service and of the model; what came of it."""
    resource = random.choices([*PATHS], [2, 2, 5, 6, 5, 1])[0]
    there = [*rows[resource]]
    after = deepcopy(rows)
    what = random.choices(["create", "update", "delete"], [4, 5, 2])[0]
    if what == "create" or not there:
        given = {name: value for name, value in values(random, rows, resource).items() if value is not None}
        if any(field not in given for field, what in REFERENCES.get(resource, {}).items() if what == "cascade"):
            return "nothing"
        answer = client.post(f"/{PATHS[resource]}", json=given)
        id = answer.json()["id"] if answer.status_code == 201 else 1_000_000
        blank = dict.fromkeys(values(random, rows, resource))
        after[resource][id] = {**blank, **given}
    elif what == "update":
        id, given = random.choice(there), values(random, rows, resource)
        given = {name: value for name, value in given.items() if value is not None and random.random() < 0.5}
        answer = client.patch(f"/{PATHS[resource]}/{id}", json=given, headers=MERGE)
        if answer.status_code == 405:
            return "nothing"
        after[resource][id] |= given
    else:
        id = random.choice(there)
        answer = client.delete(f"/{PATHS[resource]}/{id}")
        deleted(after, resource, id)
    wrong = set(broken(after))
    if answer.status_code == 409:
        assert answer.json()["code"] in wrong, (resource, what, id, answer.json(), wrong)
        return "refused"
    assert answer.status_code < 300, answer.text
    assert not wrong, (resource, what, id, wrong)
    rows.clear()
    rows.update(after)
    return "done"


MERGE = {"content-type": "application/merge-patch+json"}


@pytest.mark.serves
def test_invariants_hold_after_every_write(tmp_path: Path) -> None:
    plan = load(str(CONTRACT)).plan
    assert plan is not None
    random = Random(int(os.environ.get("NINEFOLD_SEED", "7")))
    rows: Rows = {resource: {} for resource in PATHS}
    ends = dict.fromkeys(("done", "refused", "nothing"), 0)
    with serving(plan, tmp_path / "service.db", {}) as client:
        for _ in range(WRITES):
            ends[write(random, rows, client)] += 1
    assert ends["done"] > WRITES / 10 and ends["refused"] > WRITES / 10, ends
