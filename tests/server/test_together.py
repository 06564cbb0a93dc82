"""Several processes that serve one database: what one of them has done the others know. They are nodes over PostgreSQL,
or one that writes a SQLite file and others that read it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.among_readers import among
from tests.contracts import compiled
from tests.events.stream import listening
from tests.http_cases import patient, serving
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, hall, numbers, person

pytestmark = pytest.mark.serves


@pytest.fixture(scope="module", params=["postgresql", "readers"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """Clients of one node and of another; of the process that writes, and of two that read."""
    loaded = compiled(CONTRACT)
    if request.param == "readers":
        plan = loaded.plan
        assert plan is not None
        path = tmp_path_factory.mktemp("readers") / "seats.db"
        with among(2) as readers, readers.serving(patient(plan), path, {}) as client, readers.beside() as own:
            yield own, client
        return
    url, plan = server.database(), loaded.plan_for("postgresql")
    assert plan is not None
    with serving(plan, url, {}) as one, serving(plan, url, {}) as other:
        yield one, other


def at_once(number: int, ask: Callable[[int], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(ask, range(number)))


def statuses(responses: list[httpx.Response]) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in responses:
        found[each.status_code] = found.get(each.status_code, 0) + 1
    return found


def test_of_those_that_come_to_both_as_many_are_taken_as_there_may_be(both: tuple[httpx.Client, httpx.Client]) -> None:
    """One value is of one row, a hall holds no more than its seats, and numbers have no holes."""
    who, name = person(both[0]), f"s{next(numbers)}"
    one, few = hall(both[0], 100), hall(both[1], 5)
    same = at_once(16, lambda n: both[n % 2].post("/seats", json={"hall": one, "name": name}, headers=who))
    assert statuses(same) == {201: 1, 409: 15}
    seats = at_once(16, lambda n: both[n % 2].post("/seats", json={"hall": few, "name": f"{name} {n}"}, headers=who))
    assert statuses(seats) == {201: 5, 409: 11}
    ids = sorted(each.json()["id"] for each in (*same, *seats) if each.status_code == 201)
    assert ids == list(range(ids[0], ids[0] + 6))
    shown = [client.get("/seats", headers=who).json()["data"] for client in both]
    assert [each["id"] for each in shown[0]] == [each["id"] for each in shown[1]]


def test_what_comes_to_both_with_one_key_is_done_once(both: tuple[httpx.Client, httpx.Client]) -> None:
    who, where = person(both[0]), hall(both[1], 100)
    for _ in range(3):
        key = {**who, "Idempotency-Key": f"k{next(numbers)}"}
        body = {"hall": where, "name": f"s{next(numbers)}"}
        made = at_once(8, lambda n, body=body, key=key: both[n % 2].post("/seats", json=body, headers=key))  # type: ignore[misc]
        codes = {each.json()["code"] for each in made if each.status_code != 201}
        assert codes <= {"key_busy"} and statuses(made).get(201, 0) >= 1, [each.text for each in made]
        again = [client.post("/seats", json=body, headers=key) for client in both]
        assert len({each.text for each in (*made, *again) if each.status_code == 201}) == 1
        assert [each.status_code for each in again] == [201, 201]
        other = {**body, "name": "another"}
        assert [client.post("/seats", json=other, headers=key).json()["code"] for client in both] == ["key_reused"] * 2
    assert len(both[1].get("/seats", headers=who).json()["data"]) >= 3


def test_a_rate_is_of_both(both: tuple[httpx.Client, httpx.Client]) -> None:
    came = at_once(32, lambda n: both[n % 2].get("/limited"))
    assert statuses(came) == {200: 20, 429: 12}
    left = sorted(re.findall(r"r=(\d+)", each.headers["RateLimit"])[0] for each in came if each.status_code == 200)
    assert left == sorted(map(str, range(20)))
    assert [client.get("/limited").status_code for client in both] == [429, 429]


def test_a_credential_that_ends_at_one_has_ended_at_the_other(both: tuple[httpx.Client, httpx.Client]) -> None:
    one, other = both
    for _ in range(5):
        who = person(one)
        assert [client.get("/me", headers=who).status_code for client in (one, other)] == [200, 200]
        assert one.post("/sign-out", headers=who).status_code == 204
        assert other.get("/me", headers=who).status_code == 401
        one, other = other, one


def test_a_stream_tells_at_one_what_is_written_at_both_in_its_order(both: tuple[httpx.Client, httpx.Client]) -> None:
    who, where = person(both[0]), hall(both[0], 100)
    with listening(both[1], who) as told:
        made = at_once(
            20, lambda n: both[n % 2].post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who)
        )
        ids = sorted(each.json()["id"] for each in made)
        came = [each for each in told.take(20) if each.kind == "seat.made"]
        while len(came) < 20:  # others may have lapsed meanwhile
            came += [each for each in told.take(1) if each.kind == "seat.made"]
        assert [each.data["data"]["id"] for each in came] == ids
    with listening(both[0], who, after=came[9].id) as told:
        rest = [each for each in told.take(10) if each.kind == "seat.made"]
        assert [each.id for each in rest][:5] == [each.id for each in came[10:15]], "what one has given the other knows"


def test_what_is_due_is_never_seen_as_it_was(both: tuple[httpx.Client, httpx.Client]) -> None:
    """A row is made at one node, and falls due while the other is asked for it again and again."""
    who, where = person(both[0]), hall(both[0], 100)
    for client, other in (both, both[::-1]):
        made = client.post("/seats", json={"hall": where, "name": f"s{next(numbers)}"}, headers=who)
        began, path = time.monotonic(), f"/seats/{made.json()['id']}"
        seen = [(time.monotonic() - began, other.get(path, headers=who).json()["status"])]
        while seen[-1][1] == "held" and seen[-1][0] < 60:
            seen.append((time.monotonic() - began, other.get(path, headers=who).json()["status"]))
        # The time of each is from before it was asked; the row was made some time before its answer came.
        assert seen[-1][1] == "lapsed" and all(at < 2.0 for at, status in seen if status == "held")
