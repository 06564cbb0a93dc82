"""Reading from a standby: who may be told what it says, and what is told while it lags behind, or is away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import compiled
from tests.http_cases import serving_from
from tests.postgresql import server
from tests.postgresql.clusters import Cluster, clusters
from tests.postgresql.nodes import CONTRACT, hall, nodes, person
from tests.postgresql.test_pooled import pooled
from tests.slices import LONG
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.http import answer, works
from ninefold.runtime.operations.flow import Select
from ninefold.runtime.request import behind, steps
from ninefold.runtime.store import postgresql_replica, postgresql_serving
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_replica import Positions
from ninefold.runtime.store.protocol import Known, Refused, Store

pytestmark = pytest.mark.serves

LASTING = "    lapse: {from: held, to: lapsed, after: PT2S}\n"
NEVER = "  seat.lapsed: {upon: lapse seat,  payload: {id: seat.id}}\n"
HALLS = "POST /seats:\n"
SEATS = "GET /seats:            {does: list seat, sort: [id], pages: none, responses: {200: {data: page.items}}}\n"

_databases = count()


@dataclass
class Pair:
    """A primary and the standby that follows it, and contracts to be served from them: of the same seats with a time
    after which they lapse, and without."""

    primary: Cluster
    standby: Cluster
    lasting: ServicePlan
    timed: ServicePlan

    def database(self) -> tuple[str, str]:
        """A new one: its URL, and that of its replica."""
        name = f"db{next(_databases)}"
        server.run(self.primary.url, f"CREATE DATABASE {name}")
        return self.primary.url.replace("/postgres?", f"/{name}?"), self.standby.url.replace("/postgres?", f"/{name}?")

    def pause(self) -> None:
        server.run(self.standby.url, "SELECT pg_wal_replay_pause()")
        until(lambda: server.run(self.standby.url, "SELECT pg_get_wal_replay_pause_state()") == [("paused",)])

    def resume(self) -> None:
        server.run(self.standby.url, "SELECT pg_wal_replay_resume()")

    def follow(self) -> None:
        """Until the standby has all that the primary has written."""
        [(at,)] = server.run(self.primary.url, "SELECT pg_current_wal_flush_lsn()::text")
        until(lambda: server.run(self.standby.url, f"SELECT pg_last_wal_replay_lsn() >= '{at}'") == [(True,)])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    text = CONTRACT.read_text().replace(
        HALLS, "GET /halls: {does: list hall, sort: [id], pages: none, responses: {200: {data: page.items}}}\n" + HALLS
    )
    where = tmp_path_factory.mktemp("contracts")
    (where / "timed.md").write_text(text.replace("after: PT2S", "after: PT0.2S"))
    (where / "lasting.md").write_text(text.replace(LASTING, "").replace(NEVER, "").replace(", lapsed]", "]"))
    plans = []
    for name in ("lasting", "timed"):
        loaded = compiled(where / f"{name}.md")
        plan = loaded.plan_for("postgresql")
        assert plan is not None, loaded.diagnostics
        plans.append(plan)
    with clusters(2) as (one, two):
        server.make(one.where)
        one.begin()
        two.standby_of(one)
        yield Pair(one, two, *plans)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A standby may say nothing for as long as a slow machine takes, and lag behind for as long as a test does."""
    monkeypatch.setattr(postgresql_replica, "MOST_BEHIND", 1_000.0)
    monkeypatch.setattr(postgresql_replica, "ANSWER_SECONDS", 100.0)


@contextmanager
def two_nodes(
    pair: Pair, plan: ServicePlan, by: str | None = None
) -> Iterator[tuple[httpx.Client, httpx.Client, Store]]:
    """Two that read from the replica, and the database of the second. `by`: the pooler before the primary."""
    url, replica = pair.database()
    with ExitStack() as stack:
        url = url if by is None else stack.enter_context(pooled(by, url))
        clients, stores = [], []
        for _ in range(2):
            opened = open_database(url, plan, replica=replica, pooled=by is not None)
            assert not isinstance(opened, Refused), opened
            stores.append(opened.database)
            clients.append(stack.enter_context(serving_from(plan, opened.database, {})))
        stack.callback(pair.resume)
        until(lambda: all(standing(each).is_near for each in stores))
        yield clients[0], clients[1], stores[1]


def standing(database: Store) -> Any:
    assert database.replica is not None
    return database.replica.standing()


def seats(client: httpx.Client, who: dict[str, str]) -> list[int]:
    return data(client, "/seats", who)


def data(client: httpx.Client, path: str, who: dict[str, str]) -> list[int]:
    response = client.get(path, headers=who)
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["data"]]


def seat(client: httpx.Client, who: dict[str, str], where: int, name: str) -> int:
    made = client.post("/seats", json={"hall": where, "name": name}, headers=who)
    assert made.status_code == 201, made.text
    found: int = made.json()["id"]
    return found


def broken(pair: Pair, by: str | None = None) -> set[str]:
    """What is not as it has to be while the replica stands still."""
    found = set()
    with two_nodes(pair, pair.lasting, by) as (one, two, database):
        ann, bob = person(one), person(one)
        where = hall(one, 1000)
        first = seat(one, ann, where, "first")
        pair.follow()
        assert seats(two, ann) == seats(two, bob) == data(two, "/halls", bob) == [first]
        for _ in range(2):  # whoever comes again with the same fields is like who came before
            two.get(f"/seats/{first}", headers=bob)
        pair.pause()
        second, before = seat(one, ann, where, "second"), standing(database)
        if seats(two, ann) != [first, second]:
            found.add("one's own write is seen at another node")
        if seats(two, bob) != [first] or standing(database).reads == before.reads:
            found.add("others read the replica")
        if two.get(f"/seats/{second}", headers=bob).status_code != 200:
            found.add("nobody is refused for what a replica says")
        more = hall(one, 10)  # without a credential
        if data(two, "/halls", bob) != [where, more]:
            found.add("what was written without a credential is seen with one")
        carl = person(one)
        if two.get("/me", headers=carl).status_code != 200 or seats(two, carl) != [first, second]:
            found.add("who has just signed up is known")
        assert one.post("/sign-out", headers=bob).status_code == 204
        if {two.get(path, headers=bob).status_code for path in ("/me", "/seats", f"/seats/{first}")} != {401}:
            found.add("who has signed out is nobody")
        pair.resume()
        pair.follow()
        before = standing(database)
        if seats(two, ann) != [first, second] or standing(database).reads == before.reads:
            found.add("it is read again")
    return found


@pytest.mark.long
@pytest.mark.parametrize("by", [None, "pooler", "pgbouncer"][: 2 + LONG])
def test_callers_find_what_they_wrote_and_are_who_they_are_while_the_replica_stands_still(
    pair: Pair, by: str | None
) -> None:
    assert broken(pair, by) == set()


def test_nothing_is_seen_in_a_state_that_was_over(pair: Pair) -> None:
    """A seat lapses by itself while the replica stands still, in which it is held for ever."""
    with two_nodes(pair, pair.timed) as (one, two, _):
        ann, bob = person(one), person(one)
        path = f"/seats/{seat(one, ann, hall(one, 1), 'first')}"
        pair.follow()
        pair.pause()
        until(lambda: one.get(path, headers=ann).json()["status"] == "lapsed")
        assert two.get(path, headers=bob).json()["status"] == "lapsed"


# ── What is planted ───────────────────────────────────────────────────────────────────────────────────────────────


def _unnoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "places", lambda caller, address: ())


def _noted_of_callers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    true = behind.places
    monkeypatch.setattr(answer, "places", lambda caller, address: true(caller, address) if caller.identity else ())


_TRIVIAL: Known = ("SELECT 1", (), [(1,)])
_read = postgresql_replica.Replica.read


def _unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(self: Any, known: Any, text: str, binds: Any) -> Any:
        return await _read(self, [_TRIVIAL], text, binds)

    monkeypatch.setattr(postgresql_replica.Replica, "read", read)


def _unread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(self: Any, known: Any, text: str, binds: Any) -> None:
        return None

    monkeypatch.setattr(postgresql_replica.Replica, "read", read)


def _believed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = steps.recovered

    def recovered(x: Any, error: Exception) -> Any:
        if x.behind is not None:
            x.behind.reads = False
        return true(x, error)

    monkeypatch.setattr(steps, "recovered", recovered)
    monkeypatch.setattr(answer, "recovered", recovered)


def _callers_of_the_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    true = works.Works.begun

    async def look_up(self: Any, work: Any) -> Any:
        rows = await self._database.replica.read([_TRIVIAL], work.text, work.binds)
        return rows or await self._database.select(work.text, work.binds)

    def begun(self: Any, work: Any, body: Any, address: str) -> Any:
        is_of_caller = isinstance(work, Select) and "$credential" in work.text
        return look_up(self, work) if is_of_caller else true(self, work, body, address)

    monkeypatch.setattr(works.Works, "begun", begun)
    monkeypatch.setattr(steps, "foresee", lambda x, then: then())


@pytest.mark.long
@pytest.mark.parametrize(
    ("plant", "noticed"),
    [
        (_unnoted, "one's own write is seen at another node"),
        (_noted_of_callers_alone, "what was written without a credential is seen with one"),
        (_unasked, "one's own write is seen at another node"),
        (_unread, "others read the replica"),
        (_believed, "nobody is refused for what a replica says"),
        (_callers_of_the_replica, "who has signed out is nobody"),
    ],
)
def test_what_is_planted_is_noticed(
    pair: Pair, plant: Callable[[pytest.MonkeyPatch], None], noticed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert noticed in broken(pair)


# ── How far behind it is, and where it is not ─────────────────────────────────────────────────────────────────────


def test_a_replica_that_is_away_costs_nobody_an_answer_and_its_lag_is_told(pair: Pair) -> None:
    url, replica = pair.database()
    with nodes(url, 1, "--replica", replica) as (node,):

        def told(name: str) -> float:
            lines = httpx.get(f"{node.operator}/metrics").text.splitlines()
            return next((float(each.split()[-1]) for each in lines if each.startswith(name + " ")), -1.0)

        ann, bob = person(node.client), person(node.client)
        where = hall(node.client, 100)
        reads = 'ninefold_replica_reads_total{by="replica"}'
        until(lambda: told("ninefold_replica_is_read") == 1 and told("ninefold_replica_lag_bytes") == 0)
        pair.pause()
        try:
            behind = told("ninefold_replica_lag_seconds")
            first = seat(node.client, ann, where, "first")
            until(lambda: told("ninefold_replica_lag_bytes") > 0)
            until(lambda: told("ninefold_replica_lag_seconds") > behind + 0.5)
        finally:
            pair.resume()
        until(lambda: told("ninefold_replica_lag_bytes") == 0)
        pair.standby.kill()
        assert seats(node.client, ann) == seats(node.client, bob) == [first]
        until(lambda: told("ninefold_replica_is_read") == 0)
        assert seats(node.client, bob) == [first]
        pair.standby.begin(**pair.standby.settings)
        before = told(reads)
        until(lambda: seats(node.client, bob) == [first] and told(reads) > before)


def test_why_a_replica_could_not_be_read_is_told_once(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    with two_nodes(pair, pair.lasting) as (_, _, database):
        replica = database.replica
        assert isinstance(replica, postgresql_replica.Replica) and replica._readers is not None
        for _ in range(2):
            read = replica.read(
                [("SELECT 1", (), [(1,)])], "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)", ()
            )
            assert asyncio.run_coroutine_threadsafe(read, replica._readers.loop).result() is None
    told = [each.message for each in caplog.records if "could not be read from" in each.message]
    assert len(told) == 1 and "QueryCanceledError" in told[0], told


def test_what_a_standby_lags_behind_follows_from_where_the_primary_was() -> None:
    of = Positions()
    assert of.seconds(1.0) is None
    of.seen(1, (1.0, 100), 90, 110)
    assert of.seconds(1.0) is None and of.bytes == 20
    of.seen(1, (2.0, 120), 110, 120)
    assert of.seconds(2.0) == 1.0 and of.bytes == 10
    of.seen(1, (3.0, 120), 120, 120)
    assert of.seconds(3.0) == 0.0 and of.bytes == 0
    of.seen(1, (4.0, 130), 120, 130)
    assert of.seconds(4.0) == 1.0
    # Another was promoted, and the standby has not come as far as that was when it was first seen.
    of.seen(2, (5.0, 140), 130, 140)
    assert of.seconds(5.0) is None
    of.seen(2, (6.0, 150), 140, 150)
    assert of.seconds(6.0) == 1.0
    # It has what the primary has not, and stays where it is while the primary comes past.
    of.seen(3, (7.0, 145), 150, 145)
    assert of.seconds(7.0) is None and of.bytes is None
    of.seen(3, (8.0, 160), 150, 160)
    assert of.seconds(8.0) is None
    of.seen(3, (9.0, 160), 160, 160)
    assert of.seconds(9.0) == 0.0


def test_positions_that_are_remembered_are_bounded() -> None:
    of = Positions()
    of.seen(1, (0.0, 0), 0, 0)
    for number in range(1, 10 * postgresql_replica.MOST_POSITIONS):
        of.seen(1, (float(number), number), 0, number)
    assert len(of._of_primary) <= postgresql_replica.MOST_POSITIONS
    of.seen(1, (float(number), number), number // 2, number)
    # The older, the fewer of them are known.
    assert number / 2 <= (of.seconds(number) or 0) <= number * 0.6


def test_a_replica_is_of_postgresql_and_all_nodes_have_one_or_none(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_serving, "SETTLING_SECONDS", 0.0)
    url, replica = pair.database()
    refused = open_database(url, pair.lasting, replica=str(tmp_path / "a.db"))
    assert isinstance(refused, Refused) and "--replica names a standby" in refused.message
    opened = open_database(url, pair.lasting)
    assert not isinstance(opened, Refused)
    try:
        refused = open_database(url, pair.lasting, replica=replica)
        assert isinstance(refused, Refused) and "--replica" in refused.details[0]
    finally:
        opened.database.close()


@pytest.mark.long
def test_a_replica_that_is_promoted_is_the_primary() -> None:
    with clusters(2) as (one, two):
        server.make(one.where)
        one.begin()
        two.standby_of(one)
        url = f"postgresql://ninefold@/postgres?host={one.where},{two.where}&port=5432"
        with nodes(url, 2, "--replica", two.url) as (first, second):
            who, where = person(first.client), hall(first.client, 100)
            there = seat(first.client, who, where, "first")
            until(lambda: server.run(two.url, "SELECT count(*) FROM seat") == [(1,)])
            one.kill()
            assert {each.client.get("/seats", headers=who).status_code for each in (first, second)} == {503}
            two.promote()
            until(lambda: all(each.client.get("/me", headers=who).status_code == 200 for each in (first, second)))
            again = seat(second.client, who, where, "second")
            assert seats(first.client, who) == seats(second.client, who) == [there, again]
