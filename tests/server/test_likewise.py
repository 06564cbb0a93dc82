"""A request that is answered likewise is answered, logged and counted as it is by the steps.

Every recorded request of a case that changes nothing comes to a door, at its own moment and at the last one, as bytes:
alone, so that it takes the steps, and then among those that are like it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from msgspec.structs import replace
from tests.contracts import ROOT, SERVED, compiled, contract_of, operator_of
from tests.slices import LONG, some
from uvicorn.server import ServerState

from ninefold.ablate.fixed import Asked, rehearse, scripts
from ninefold.ablate.rehearsal import ADDRESS, Moment, Rehearsal, Told
from ninefold.cli.plan import listing
from ninefold.operator.port import Metrics
from ninefold.runtime.http.access_log import Record, lines
from ninefold.runtime.http.app import SAFE, Application
from ninefold.runtime.http.asking import Settled
from ninefold.runtime.http.direct import Door
from ninefold.runtime.http.framing import Requests
from ninefold.runtime.http.protocol import Protocol
from ninefold.runtime.request import likewise
from ninefold.runtime.request.exchange import call_of
from ninefold.runtime.store.memory import Memory
from ninefold.runtime.store.protocol import Answered, Row, Session, Statistics, Stored

ORDERS = ROOT / "examples" / "orders.md"
COMPLETE = [each for each in SERVED if each.name != "orders"]
"""The case of orders is told without what its operator gives."""
CASES = COMPLETE if LONG else some(COMPLETE, 16)


@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_what_is_answered_likewise_is_what_the_steps_answer(directory: Path) -> None:
    _asked_both_ways(contract_of(directory), sorted((directory / "http").glob("*.http")), operator_of(directory))


def test_most_good_reads_of_the_example_are_answered_likewise() -> None:
    good, settled = _asked_both_ways(ORDERS, [ORDERS.with_suffix(".http")], {})
    assert good and settled > good / 2


def test_the_plan_says_which_endpoints_answer_so() -> None:
    plan = compiled(ORDERS).plan
    assert plan is not None
    shown = listing(plan).split("\n\n")
    (one,) = [each for each in shown if each.startswith("GET /orders/{id}\n")][:1]
    (made,) = [each for each in shown if each.startswith("POST /orders\n")][:1]
    assert one.count("\n    one function answers who is kept, where a request is like an earlier one") == 2
    assert "one function" not in made


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("count", lambda *told: ()),
        ("headers_told", lambda *told: ()),
        ("call_of", lambda service, request, *others: call_of(service, replace(request, headers={}), *others)),
    ],
)
def test_a_defect_of_what_is_left_is_found(name: str, instead: Callable[..., Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likewise, name, instead)
        with pytest.raises(AssertionError):
            _asked_both_ways(ORDERS, [ORDERS.with_suffix(".http")], {})


def _asked_both_ways(contract: Path, paths: list[Path], given: Mapping[str, str]) -> tuple[int, int]:
    """How many requests that came like others were answered well, and how many of them without the steps."""
    files = [(each.name, each.read_text(encoding="utf-8")) for each in paths]
    whole = rehearse(compiled(contract), scripts(files), given)
    rehearsal = whole.rehearsal(whole.plan)
    rehearsal.opened()
    asked = [each for each in whole.asked if _ends(each)]
    moments = [each.moment for each in whole.asked]
    try:
        return asyncio.run(_at_doors(rehearsal, asked, moments[-1:]))
    finally:
        rehearsal.close()


def _ends(asked: Asked) -> bool:
    """Whether a request changes nothing, and its response does not go on."""
    goes_on = ("content-type", "text/event-stream") in asked.seen.headers or asked.seen.status == 101
    return asked.told.method in SAFE and asked.told.happening is None and not goes_on


async def _at_doors(rehearsal: Rehearsal, asked: Sequence[Asked], moments: Sequence[Moment]) -> tuple[int, int]:
    rows = _Rows(rehearsal.database)
    sides = alone, among = _Side(rehearsal, rows, keeps=False), _Side(rehearsal, rows, keeps=True)
    try:
        good = await _asked_of(sides, rehearsal, rows, asked, moments)
    finally:
        for side in sides:
            side.application.close()
    assert alone.settled == 0
    assert among.counted() == alone.counted()
    return good, among.settled


async def _asked_of(
    sides: tuple[_Side, _Side], rehearsal: Rehearsal, rows: _Rows, asked: Sequence[Asked], moments: Sequence[Moment]
) -> int:
    (alone, among), good = sides, 0
    for each in asked:
        for moment in (each.moment, *moments):
            rehearsal.put(moment)
            rows.at += 1
            await alone.answer(each.told)
            alone.line()
            rows.at += 1  # what was due has happened
            came = []
            # The second of those that come among others is like the first.
            for side in (alone, among, among):
                rehearsal.at(moment)
                came.append((await side.answer(each.told), side.line()))
            assert came[1] == came[0] and came[2] == came[0], each.where
            good += came[0][0].startswith(b"HTTP/1.1 200")
    return good


class _Rows:
    """The rows of a rehearsal, as a service reads them. `at`: which they are."""

    nodes = None
    at = 0

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def select(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        return self._memory.select(text, binds)

    def write(self, work: Callable[[Session], Any], done: Answered, again: bool = False) -> None:
        done(self._memory.transact(work), None)

    def admit(self, size: int) -> None:
        pass

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        return frozenset()

    def state(self, tables: Collection[str]) -> int:
        return self.at

    def statistics(self) -> Statistics:
        return Statistics(0, 0, 0, 0, 0, 0)


class _Side(asyncio.Transport):
    """A door to the service of a rehearsal, and what writes to its connection. `keeps`: what is known of heads is
    kept. `settled`: how many requests took no steps."""

    def __init__(self, rehearsal: Rehearsal, rows: Any, keeps: bool) -> None:
        super().__init__()
        self.settled = 0
        self._written = b""
        self._records: list[Record] = []
        self._metrics = Metrics(rows)
        self.application = Application(rehearsal.service, rows, self._observe)
        begun = self.application.asked

        def asked(*request: Any) -> Any:
            asking = begun(*request)
            self.settled += isinstance(asking, Settled)
            return asking

        core: Any = self.application
        core.asked = asked
        config = uvicorn.Config(self.application, log_config=None, lifespan="off")
        config.load()
        door = Door(lambda *told: None, 30.0, core=core)
        self._connection = Protocol(config, ServerState(), {}, door=door)
        if not keeps:
            self._connection.requests = Requests(None)
        self._connection.connection_made(self)

    async def answer(self, told: Told) -> bytes:
        self._written = b""
        query = b"?" + told.query if told.query else b""
        fields = {"host": "service", **told.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if name != "content-length")
        request = b"%b %b%b HTTP/1.1\r\n%b\r\n" % (told.method.encode(), told.path, query, head.encode("latin-1"))
        self._connection.data_received(request)
        async with asyncio.timeout(60):
            while not self._records:
                await asyncio.sleep(0)
        return self._written

    def line(self) -> str:
        """What is logged of the last request, but how long it took."""
        (record,) = self._records
        self._records.clear()
        return lines("json")(replace(record, seconds=0.0))

    def counted(self) -> list[str]:
        """What was counted of requests, but how long they took."""
        text = self._metrics.expose("")[0].decode()
        counts = ("ninefold_requests_total", "ninefold_request_seconds_count")
        return sorted(each for each in text.splitlines() if each.startswith(counts))

    def _observe(self, record: Record) -> None:
        self._metrics.observe(record)
        self._records.append(record)

    def write(self, data: Any) -> None:
        self._written += data

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"sockname": (ADDRESS, 80), "peername": (ADDRESS, 50_000)}.get(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass
