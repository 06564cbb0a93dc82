"""Statements that take long: others go on meanwhile, the timeout holds, and a read that is given up really ends."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import apsw
import httpx
import pytest
from tests.contracts import plan_of
from tests.server.conftest import Running, running
from tests.waiting import comes, until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import reads
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

CONTRACT = """
purpose: Keeps things.
resources:
  thing:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      label: {type: string}
    required: [label]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /things:     {does: create thing, body: [label], responses: {201: thing}}
  GET /things/{id}: {does: read thing, responses: {200: thing}}
  GET /things:
    does: list thing
    query:
      like:     "thing.label.contains(value)"
      followed: "all(thing).exists(t, t.label.contains(thing.label + value))"
    sort: [label]
    responses: {200: {data: page.items, total: page.total}}
  DELETE /things:
    does: delete all thing
    query: {followed: "all(thing).exists(t, t.label.contains(thing.label + value))"}
    responses: {204: none}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    wrong:   {status: 422, title: Wrong, for: invalid}
    busy:    {status: 503, title: Busy, for: [unavailable]}
    slow:    {status: 504, title: Slow, for: [timed out]}
limits:
  rates: none
  body size: 1 MiB
  timeout: PT1S
  pages: {default: 5, maximum: 5, by: cursor, size: size, at: after}
versioning: none
"""


def plan(contract: str = CONTRACT) -> ServicePlan:
    return plan_of(contract, "things.yaml")


def fill(path: Path, count: int) -> None:
    """Put things into the database of a service: no request makes as many in the time of a test."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5_000)
    numbers = f"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    connection.execute(f"{numbers} INSERT INTO thing SELECT i, 'thing ' || i, 'r' || i FROM n")
    connection.close()


def answered_beside(service: Running, slow: Future[httpx.Response]) -> int:
    """How many short requests are answered until a slow one is."""
    answered = 0
    while not slow.done():
        assert service.http.get("/things/1").status_code == 200
        answered += 1
    return answered


def test_others_read_while_a_long_read_goes_on_and_its_time_out_ends_it(tmp_path: Path) -> None:
    """Undisturbed, this read would compare 40,000 things with 40,000."""
    with running(plan(), tmp_path / "service.db") as service, ThreadPoolExecutor(20) as pool:
        fill(tmp_path / "service.db", 40_000)
        slow = pool.submit(service.http.get, "/things?followed=never")
        assert answered_beside(service, slow) > 1
        assert (slow.result().status_code, slow.result().json()) == (504, {"code": "slow"})
        until(lambda: service.database.statistics().reading == 0)
        # More of them than there are threads: each has its time, and nothing of any remains.
        many = [pool.submit(service.http.get, "/things?followed=never") for _ in range(3 * reads.THREADS)]
        assert service.http.get("/things/7").json() == {"id": 7, "label": "thing 7"}
        assert {each.result().status_code for each in many} == {504}
        until(lambda: service.database.statistics().reading == 0)
        # A write waits for none of them.
        assert service.http.post("/things", json={"label": "new"}).status_code == 201


def test_others_read_while_a_long_write_goes_on_and_the_time_out_holds(tmp_path: Path) -> None:
    with running(plan(), tmp_path / "service.db") as service, ThreadPoolExecutor(1) as pool:
        fill(tmp_path / "service.db", 8_000)
        slow = pool.submit(service.http.delete, "/things?followed=never")
        assert answered_beside(service, slow) > 1
        assert (slow.result().status_code, slow.result().json()) == (504, {"code": "slow"})


def test_a_long_read_gives_what_a_short_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "STEPS", 1)
    paths = ("/things", "/things?like=9", "/things?size=2&like=1", "/things/3", "/things/0", "/things?followed=0")
    told = []
    for budget in (3600.0, -1.0):
        monkeypatch.setattr(reads, "BUDGET", budget)
        path = tmp_path / f"{budget}.db"
        with running(plan(CONTRACT.replace("PT1S", "PT1M")), path) as service:
            fill(path, 30)
            answers = [service.http.get(each) for each in paths]
            told.append([(each.status_code, each.content.replace(b" ", b"")) for each in answers])
            begun = service.database.statistics().long_reads
        assert begun == 0 if budget > 0 else begun >= len(paths)
    assert told[0] == told[1]


def test_what_is_broken_off_when_a_service_ends_is_unavailable(tmp_path: Path) -> None:
    opened = open_sqlite(str(tmp_path / "a.db"), plan().schema)
    assert isinstance(opened, Opened)
    fill(tmp_path / "a.db", 10)
    forever = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    async def ended() -> object:
        waiting = opened.database.select(forever, ())
        assert isinstance(waiting, asyncio.Future)
        await comes(lambda: opened.database.statistics().reading)
        await asyncio.to_thread(opened.database.close)
        [result] = await asyncio.gather(waiting, return_exceptions=True)
        return result

    assert str(asyncio.run(ended())) == "the service is stopping"


def test_what_was_begun_is_not_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read is tried at once by what is left of it from an earlier request, and then by the steps: these go on with
    what was begun."""
    monkeypatch.setattr(reads, "STEPS", 1)
    monkeypatch.setattr(reads, "BUDGET", -1.0)
    path = tmp_path / "service.db"
    with running(plan(CONTRACT.replace("PT1S", "PT1M")), path) as service:
        fill(path, 30)
        for each in ("/things", "/things?like=9", "/things/3"):
            begun, told = list[int](), list[bytes]()
            for _ in range(4):
                before = service.database.statistics().long_reads
                told.append(service.http.get(each).content)
                begun.append(service.database.statistics().long_reads - before)
            assert len(set(begun)) == len(set(told)) == 1, begun
            service.http.post("/things", json={"label": "thing 99"}).raise_for_status()
            assert (service.http.get(each).content == told[0]) is (each == "/things/3")
