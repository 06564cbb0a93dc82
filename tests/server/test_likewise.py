"""A request that is answered likewise is answered, logged and counted as it is by the steps.

Every recorded request of a case comes to a door, at its own moment and at the last one, as bytes: alone, so that it
takes the steps, and then among those that are like it. Each time the rows are as they were, and what becomes of them is
compared as well.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import re
from asyncio import Future
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import pytest
from msgspec.structs import replace
from tests.contracts import ROOT, SERVED, compiled, contract_of, operator_of
from tests.slices import some

from ninefold.cli.plan import listing
from ninefold.diff.ablate.fixed import Asked, Whole, rehearse, scripts
from ninefold.diff.rehearsal import ADDRESS, Moment, Rehearsal, Told
from ninefold.runtime.cache import Cache
from ninefold.runtime.http import awaiting, direct, known, work
from ninefold.runtime.http.access_log import Record, lines
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.asking import Asking, Settled
from ninefold.runtime.http.awaiting import Awaiting
from ninefold.runtime.http.capacity import SAFE
from ninefold.runtime.http.direct import WHOLE_BYTES, Door
from ninefold.runtime.http.framing import Requests
from ninefold.runtime.http.protocol import Protocol, State
from ninefold.runtime.messages import notes
from ninefold.runtime.messages.message import Response
from ninefold.runtime.operations import read
from ninefold.runtime.operations.cursors import Seals
from ninefold.runtime.operations.flow import Fetched, Sweep, Unreachable, Wait
from ninefold.runtime.operations.read import List
from ninefold.runtime.operator.exposition import exposed
from ninefold.runtime.operator.metrics import Metrics
from ninefold.runtime.request import handed as at_handed
from ninefold.runtime.request import left_of_reads, left_of_writes, likewise
from ninefold.runtime.request.exchange import Exchange, call_of
from ninefold.runtime.request.left import Given
from ninefold.runtime.request.schemes import MOST_KEPT, Scheme, Tokens
from ninefold.runtime.store.memory import Memory
from ninefold.runtime.store.protocol import Answered, BoundStatement, Row, Session, Statistics, Stored, settling

ORDERS = ROOT / "examples" / "orders.md"
COMPLETE = [each for each in SERVED if each.name != "orders"]
"""The case of orders is told without what its operator gives."""
Heads: TypeAlias = Callable[[Told], Sequence[Told]]

OWN = "x-request-id"
"""A field that is another each time."""

_REVISION: Final = re.compile(rb'(?<=etag: "[0-9a-f]{8})[\w-]{16}')
"""Of a row, in its tag: what is drawn anew with each change."""

COMES_LATER = ("transfer-encoding", "expect")
"""With these a body may come in pieces."""

CASES = some(COMPLETE, 32)


@pytest.mark.long
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_what_is_answered_likewise_is_what_the_steps_answer(directory: Path) -> None:
    asked_both_ways(contract_of(directory), sorted((directory / "http").glob("*.http")), operator_of(directory))


def test_most_good_reads_and_some_writes_of_the_example_are_answered_likewise() -> None:
    good, settled, handed = asked_both_ways(ORDERS, [ORDERS.with_suffix(".http")], {})
    assert good and settled > good / 2
    assert handed


def test_no_fewer_are_where_each_has_an_identifier_of_its_own() -> None:
    files = [ORDERS.with_suffix(".http")]
    assert asked_both_ways(ORDERS, files, {}, heads=_with_its_own) == asked_both_ways(ORDERS, files, {})


def _with_its_own(told: Told) -> list[Told]:
    return [dataclasses.replace(told, headers={**told.headers, OWN: ""})]


SAYS_SOMETHING = {
    "accept": ("text/plain", "application/json", "*/*;q=0"),
    "accept-encoding": ("gzip",),
    "authorization": ("Bearer x", "Basic eDp5", "Bearer"),
    "api-version": ("1", "2026-06-01"),
    "content-encoding": ("gzip", "identity"),
    "content-type": ("text/plain", "application/json", "application/merge-patch+json"),
    "cookie": ("session=x",),
    "idempotency-key": ("a", "b", '"'),
    "if-match": ("*", '"x"'),
    "if-none-match": ("*", '"x"'),
    "origin": ("https://other.example",),
    "x-api-key": ("x",),
}


@pytest.mark.parametrize(
    "name",
    [
        "orders",
        "a-session-in-a-cookie",
        "boards-with-entity-tags",
        "a-version-in-the-header",
        "a-version-in-the-media-type",
    ],
)
def test_who_says_something_else_in_a_field_that_is_looked_up_is_not_alike(name: str) -> None:
    directory = next((each for each in COMPLETE if each.name == name), None)
    files = [ORDERS.with_suffix(".http")] if directory is None else sorted((directory / "http").glob("*.http"))
    contract, given = (ORDERS, {}) if directory is None else (contract_of(directory), operator_of(directory))
    asked_both_ways(contract, files, given, heads=_otherwise(Random(name)))


@pytest.mark.parametrize(
    "instead",
    [lambda scope, query, names, fields: (scope, query), lambda scope, query, names, fields: (scope, query, *fields)],
)
def test_a_request_that_is_held_to_be_alike_and_is_not_is_found(instead: Callable[..., Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notes, "_key", instead)
        with pytest.raises(AssertionError):
            asked_both_ways(ORDERS, [ORDERS.with_suffix(".http")], {}, heads=_otherwise(Random(1)))


@pytest.mark.parametrize(
    "name", ["orders", "a-session-in-a-cookie", "a-version-in-the-header", "a-version-in-the-media-type"]
)
def test_nor_is_who_says_so_in_a_field_that_was_held_to_be_each_requests_own(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "DIFFERENT", 2)
        test_who_says_something_else_in_a_field_that_is_looked_up_is_not_alike(name)


@pytest.mark.parametrize("name", ["orders", "projects-that-members-look-into", "links-that-repeat-the-request"])
def test_who_asks_for_something_else_by_its_path_alone_is_not_alike(name: str) -> None:
    _asked_by_other_paths(next((each for each in COMPLETE if each.name == name), None))


@pytest.mark.long
@pytest.mark.parametrize("directory", COMPLETE, ids=lambda path: path.name)
def test_no_path_is_taken_for_another(directory: Path) -> None:
    _asked_by_other_paths(directory)


def test_a_page_that_tells_where_it_is_tells_it_of_its_own_path(tmp_path: Path) -> None:
    directory = next(each for each in COMPLETE if each.name == "tasks-of-projects-in-nested-paths")
    text, contract = contract_of(directory).read_text(encoding="utf-8"), tmp_path / "contract.md"
    listed = "{does: list task, sort: [id], responses: {200: page.items}}"
    told = "{does: list task, sort: [id], pages: {by: cursor, default: 9, maximum: 9, size: limit, at: from}, "
    contract.write_text(text.replace(listed, told + "responses: {200: \"page.at('')\"}}"), encoding="utf-8")
    _asked_by_their_paths(contract, sorted((directory / "http").glob("*.http")), {})


BY_ITS_NAME: Final = "GET /todos/{id}: {does: read todo, responses: {200: todo}}"
RENAMED: Final = (
    "PATCH /people/me: {does: update person, where: person == caller.person, body: [name], patch: merge, "
    "responses: {200: {name: person.name}}}"
)
ONE_ROW: Final = """
POST /people
Content-Type: application/json

{"name": "Ada"}

HTTP 201

{"id": "{{*}}", "token": "{{ada}}"}

POST /todos
Authorization: Bearer {{ada}}
Content-Type: application/json

{"text": "water the plants"}

HTTP 201

{"id": "{{id}}", "text": "{{*}}", "owner": "{{*}}", "done": false, "urgency": 0}

GET /todos/{{id}}
Authorization: Bearer {{ada}}

HTTP 200

PATCH /people/me
Authorization: Bearer {{ada}}
Content-Type: application/merge-patch+json

{"name": "Eve"}

HTTP 200

GET /todos/{{id}}
Authorization: Bearer {{ada}}

HTTP 200
"""


def _one_row(told: str, folder: Path) -> tuple[int, int, int]:
    """As `asked_both_ways`, of a row that is found by one name of its path and shown as `told`."""
    text = contract_of(next(each for each in COMPLETE if each.name == "todos-of-an-owner")).read_text(encoding="utf-8")
    assert BY_ITS_NAME in text
    told = BY_ITS_NAME.replace("responses: {200: todo}", told)
    contract, asked = folder / "contract.md", folder / "asked.http"
    contract.write_text(text.replace(BY_ITS_NAME, f"{told}\n{RENAMED}"), encoding="utf-8")
    asked.write_text(ONE_ROW, encoding="utf-8")
    return asked_both_ways(contract, [asked], {}, heads=lambda told: [told] * 4)


@pytest.mark.parametrize(
    "told",
    [
        "responses: {200: {id: todo.id, at: now}}",
        "responses: {200: {id: todo.id, due: \"todo.due == null || now < timestamp('2026-01-01T00:00:00Z')\"}}",
        "responses: {200: todo}, headers: {X-Now: string(now)}",
        "responses: {200: {id: todo.id, for: caller.person.name}}",
    ],
)
def test_a_row_that_tells_the_time_or_who_asks_tells_it_of_its_own_request(told: str, tmp_path: Path) -> None:
    good, settled, _ = _one_row(told, tmp_path)
    assert settled > good / 2


def _who_came_first(*told: Any) -> Any:
    """`left_of_reads.named` that takes whoever calls for who called first."""
    made: Any = left_of_reads.named(*told)
    first = list[Any]()

    def of(*caller: Any) -> Any:
        first.append(made(*caller))
        return first[0]

    return made and of


@pytest.mark.parametrize(
    ("told", "where", "name", "instead"),
    [
        ("responses: {200: {id: todo.id, at: now}}", read, "OF_EACH_REQUEST", frozenset(("$path",))),
        ("responses: {200: {id: todo.id, for: caller.person.name}}", likewise, "named", _who_came_first),
    ],
)
def test_a_defect_of_a_row_that_is_known_by_its_name_is_found(
    told: str, where: Any, name: str, instead: Any, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, instead)
        with pytest.raises(AssertionError):
            _one_row(told, tmp_path)


def _asked_by_other_paths(directory: Path | None) -> None:
    files = [ORDERS.with_suffix(".http")] if directory is None else sorted((directory / "http").glob("*.http"))
    contract, given = (ORDERS, {}) if directory is None else (contract_of(directory), operator_of(directory))
    _asked_by_their_paths(contract, files, given)


def _asked_by_their_paths(contract: Path, files: list[Path], given: Mapping[str, str]) -> None:
    """Each request, with another last segment or another one of all paths instead of its own, and with its own."""
    requests = rehearsed(contract, tuple(files), tuple(given.items())).asked
    paths = {each.told.path for each in requests} - {each.told.path for each in requests if not _ends(each)}
    chance = Random(contract.name)

    def heads(told: Told) -> list[Told]:
        others = sorted(each for each in paths if each.count(b"/") == told.path.count(b"/"))
        other = told.path.rpartition(b"/")[0] + b"/x"
        asked = [told.path, other, *chance.sample(others, min(len(others), 3)), told.path, other]
        return [dataclasses.replace(told, path=path) for path in asked]

    asked_both_ways(contract, files, given, heads=heads)


def _otherwise(chance: Random) -> Heads:
    """Each request as it is, and with a field more, less or other, in any order."""

    def heads(told: Told) -> list[Told]:
        found = [told.headers, {name: value for name, value in told.headers.items() if name != "authorization"}]
        for name in chance.sample(sorted(SAYS_SOMETHING), 3):
            found.append({**told.headers, name: chance.choice(SAYS_SOMETHING[name])})
        found.append({name: value for name, value in told.headers.items() if chance.random() < 0.8})
        chance.shuffle(found)
        return [dataclasses.replace(told, headers={**each, OWN: ""}) for each in found]

    return heads


def test_no_fewer_are_while_a_commit_goes_on_and_nobody_can_say_whether_a_caller_is_as_it_was() -> None:
    files = [ORDERS.with_suffix(".http")]
    usually = asked_both_ways(ORDERS, files, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Rows, "state", lambda self, tables: None)
        assert asked_both_ways(ORDERS, files, {}) == usually


def test_reads_by_callers_whose_credentials_end_are_answered_likewise() -> None:
    directory = next(each for each in COMPLETE if each.name == "a-session-in-a-cookie")
    files = sorted((directory / "http").glob("*.http"))
    good, settled, _ = asked_both_ways(contract_of(directory), files, operator_of(directory))
    assert good and settled > good / 2


WAIT_FOR_NOTHING_ELSE = (
    "books-that-show-what-is-asked-for",
    "films-in-several-views",
    "pages-that-tell-where-they-are",
    "rooms-whose-bookings-are-hidden",
    "a-session-in-a-cookie",
)
"""Cases of which nothing is counted, falls due, or has a key: nodes share nothing but rows. Anybody may read what the
first three have, and the others ask who calls."""


@pytest.mark.parametrize("name", WAIT_FOR_NOTHING_ELSE)
def test_reads_that_wait_for_their_rows_are_handed_over(name: str) -> None:
    good, settled, handed = _recorded(name, waits=True)
    assert handed > good / 2
    # One greets whoever has no credential: nothing is waited for.
    assert bool(settled) is (name == "a-session-in-a-cookie")


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("name", WAIT_FOR_NOTHING_ELSE)
def test_what_goes_out_piece_by_piece_is_as_the_steps_have_it(
    monkeypatch: pytest.MonkeyPatch, name: str, waits: bool
) -> None:
    for each in (awaiting, direct):
        monkeypatch.setattr(each, "LITTLE_BYTES", 10)
    good, _, handed = _recorded(name, waits)
    assert handed or (good and not waits)


def test_who_is_foreseen_and_is_not_asked_is_found() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for each in ("asked_first", "behind"):
            patch.setattr(likewise, each, lambda waits, first: waits)
        with pytest.raises(AssertionError):
            _recorded("a-session-in-a-cookie", waits=True)


def _recorded(name: str, waits: bool) -> tuple[int, int, int]:
    directory = next(each for each in COMPLETE if each.name == name)
    files = sorted((directory / "http").glob("*.http"))
    return asked_both_ways(contract_of(directory), files, operator_of(directory), waits)


def test_the_plan_says_which_endpoints_answer_so() -> None:
    plan = compiled(ORDERS).plan
    assert plan is not None
    shown = listing(plan).split("\n\n")
    (one,) = [each for each in shown if each.startswith("GET /orders/{id}\n")][:1]
    (made,) = [each for each in shown if each.startswith("POST /orders\n")][:1]
    (streamed,) = [each for each in shown if each.startswith("GET /events\n")][:1]
    function = "\n    one function answers who is kept, where a request is like an earlier one"
    assert (one.count(function), made.count(function), streamed.count(function)) == (2, 1, 0)
    assert "\n    all requests take the steps: it changes several rows, or goes on" in streamed


@pytest.mark.parametrize(
    ("where", "name", "instead"),
    [
        (left_of_reads, "counting", lambda *made: lambda *told: ()),
        (left_of_reads, "headers_told", lambda *told: ()),
        (
            left_of_writes,
            "call_of",
            lambda service, request, *others: call_of(service, replace(request, headers={}), *others),
        ),
        (left_of_writes, "sent_key", lambda *told: (None, [])),
        (at_handed, "Exchange", lambda *told, caller, **others: Exchange(*told, **others)),
    ],
)
def test_a_defect_of_what_is_left_is_found(where: Any, name: str, instead: Callable[..., Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, instead)
        with pytest.raises(AssertionError):
            asked_both_ways(ORDERS, [ORDERS.with_suffix(".http")], {})


def _of_another(**instead: Any) -> Callable[..., Any]:
    """`List.likewise` of a list some parts of which are otherwise."""
    of: Any = List.likewise

    def likewise(self: List, *told: Any) -> Any:
        other = copy(self)
        for name, value in instead.items():
            setattr(other, name, value)
        return of(other, *told)

    return likewise


def _told_otherwise(number: int, instead: Any) -> Callable[..., Any]:
    """`List.likewise` that is told something else."""
    of: Any = List.likewise
    return lambda self, *told: of(self, *told[:number], instead, *told[number + 1 :])


def _the_first(seal: Seals) -> Seals:
    """`once_more` of which each place has the cursor of the first."""
    first = list[str]()

    def sealed(keys: Sequence[Stored]) -> str:
        first.append(seal(keys))
        return first[0]

    return sealed


@pytest.mark.parametrize(
    ("name", "where", "what", "instead"),
    [
        ("a-log-that-is-read", List, "likewise", _of_another(_count=None)),
        ("boards-with-entity-tags", List, "likewise", _of_another(_heeds=False)),
        ("projects-that-members-look-into", List, "likewise", _of_another(judge=None)),
        ("books-that-show-what-is-asked-for", List, "likewise", _told_otherwise(0, {})),
        ("boards-with-entity-tags", List, "likewise", _told_otherwise(1, False)),
        ("books-that-show-what-is-asked-for", List, "likewise", _told_otherwise(4, lambda sort: str)),
        ("orders", read, "once_more", _the_first),
    ],
)
def test_a_defect_of_a_list_that_is_made_ready_is_found(name: str, where: Any, what: str, instead: Any) -> None:
    directory = next((each for each in COMPLETE if each.name == name), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, what, instead)
        with pytest.raises(AssertionError):
            if directory is None:
                asked_both_ways(ORDERS, [ORDERS.with_suffix(".http")], {})
            else:
                files = sorted((directory / "http").glob("*.http"))
                asked_both_ways(contract_of(directory), files, operator_of(directory))


def asked_both_ways(
    contract: Path, paths: list[Path], given: Mapping[str, str], waits: bool = False, heads: Heads = lambda told: [told]
) -> tuple[int, int, int]:
    """How many reads that came like others were answered well, how many of them without the steps, and how many
    requests were handed over without them: writes, and where rows are waited for (`waits`) reads. `heads`: as what each
    request comes, in turn; what is its own is added each time."""
    whole = rehearsed(contract, tuple(paths), tuple(given.items()))
    rehearsal = whole.rehearsal(whole.plan)
    rehearsal.opened()
    # A password that is hashed or verified takes some tenths of a second.
    writes = "secret: password" not in contract.read_text(encoding="utf-8")
    asked = [each for each in whole.asked if _ends(each) and (writes or each.told.method in SAFE)]
    moments = [each.moment for each in whole.asked]

    async def fetched(url: str) -> Fetched | Unreachable:
        return whole.fetch(url)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(work, "_fetch", fetched)  # whoever issues tokens is played, as for the recorded requests
            return asyncio.run(_at_doors(rehearsal, asked, moments[-1:], waits, heads))
    finally:
        rehearsal.close()


@cache
def rehearsed(contract: Path, paths: tuple[Path, ...], given: tuple[tuple[str, str], ...]) -> Whole:
    files = [(each.name, each.read_text(encoding="utf-8")) for each in paths]
    return rehearse(compiled(contract), scripts(files), dict(given))


@contextmanager
def _leaving_no_circles() -> Iterator[None]:
    """No request that is over is left in a circle with itself: that is found late, and at a price."""
    gc.collect()
    gc.disable()
    try:
        yield
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = Counter(
            type(each) for each in gc.garbage if isinstance(each, Asking | Awaiting | Settled | Exchange | Given)
        )
        assert not left
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _ends(asked: Asked) -> bool:
    """Whether a request comes whole, nothing befalls it, and its response does not go on."""
    comes_whole = len(asked.told.body) <= WHOLE_BYTES and asked.told.headers.keys().isdisjoint(COMES_LATER)
    return asked.told.happening is None and comes_whole and not goes_on(asked)


def goes_on(asked: Asked) -> bool:
    return ("content-type", "text/event-stream") in asked.seen.headers or asked.seen.status == 101


async def _at_doors(
    rehearsal: Rehearsal, asked: Sequence[Asked], moments: Sequence[Moment], waits: bool, heads: Heads
) -> tuple[int, int, int]:
    service = rehearsal.service
    if waits and (service.rates or service.timers is not None or service.keys is not None):
        pytest.skip("nodes have more together than rows, and there are none here")
    rows = (_RowsElsewhere if waits else _Rows)(rehearsal)
    sides = alone, among = _Side(rehearsal, rows, keeps=False), _Side(rehearsal, rows, keeps=True)
    try:
        with _leaving_no_circles():
            good = await _asked_of(sides, rehearsal, rows, asked, moments, heads)
    finally:
        for side in sides:
            side.application.close()
    assert alone.settled == alone.handed == 0
    assert among.counted() == alone.counted()
    return good, among.settled, among.handed


async def _asked_of(
    sides: tuple[_Side, _Side],
    rehearsal: Rehearsal,
    rows: _Rows,
    asked: Sequence[Asked],
    moments: Sequence[Moment],
    heads: Heads,
) -> int:
    (alone, among), good = sides, 0
    for each, told in [(one, told) for one in asked for told in heads(one.told)]:
        reads = told.method in SAFE
        for moment in (each.moment, *(moments if reads else ())):
            rehearsal.put(moment)
            _happen(rehearsal)
            rows.at += 1
            state, came = None if reads else rehearsal.database.state(), []
            # The second of those that come among others is like the first. What it is counted with, once more.
            for side in (alone, alone, among, among):
                if state is not None:
                    rehearsal.database.restore(state)
                rehearsal.at(moment)
                answered = await side.answer(told)
                came.append((answered, side.line(), () if reads else rehearsal.stored()))
            if not reads:  # what is worked out again, since it is somebody else who calls, has drawn once more
                came = [(_REVISION.sub(b"", answer), line, left) for answer, line, left in came]
            assert all(one == came[0] for one in came), each.where
            good += told.method == "GET" and came[0][0].startswith(b"HTTP/1.1 200")
    return good


def _happen(rehearsal: Rehearsal) -> None:
    """What is due happens."""
    timers = rehearsal.service.timers
    if timers is not None:
        step = timers.settled(rehearsal.sources.now(), lambda: Response(204))
        while isinstance(step, Wait):
            assert isinstance(step.work, Sweep)
            step = step.resume(rehearsal.database.transact(step.work.work))


class _Rows:
    """The rows of a rehearsal, as a service reads them. `at`: which they are."""

    nodes = None
    replica = None
    together = False
    at = 0

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    @property
    def _memory(self) -> Memory:
        return self._rehearsal.database

    def select(self, text: str, binds: Sequence[Stored]) -> list[Row] | Future[list[Row]]:
        return self._memory.select(text, binds)

    def write(
        self,
        work: Callable[[Session], Any],
        done: Answered,
        again: bool = False,
        due: str | None = None,
        places: tuple[int, ...] = (),
    ) -> None:
        # Who waits is told later, as by any writer.
        loop = asyncio.get_running_loop()
        try:
            value = self._memory.transact(work)
        except Exception as error:
            loop.call_soon(done, None, error)
        else:
            loop.call_soon(done, value, None)

    def admit(self, size: int) -> None:
        pass

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        return frozenset()

    def state(self, tables: Collection[str]) -> int:
        return self.at

    def commits(self) -> int:
        return self.at

    def statistics(self) -> Statistics:
        return Statistics(0, 0, 0, 0, 0, 0)

    def reachable(self) -> bool:
        return True

    def pool(self) -> None:
        return None


class _RowsElsewhere(_Rows):
    """The same where they are waited for, and several processes may serve them."""

    together = True

    def select(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        loop = asyncio.get_running_loop()
        future, rows = loop.create_future(), self._memory.select(text, binds)
        loop.call_soon(settling(future), rows, None)
        return future

    def select_as_one(self, reads: Sequence[BoundStatement]) -> Future[list[list[Row]]]:
        loop = asyncio.get_running_loop()
        future, rows = loop.create_future(), [self._memory.select(*each) for each in reads]
        loop.call_soon(settling(future), rows, None)
        return future


class _Side(asyncio.Transport):
    """A door to the service of a rehearsal, and what writes to its connection. `keeps`: what is known of heads is
    kept. `settled` and `handed`: how many requests took no steps, or none before what they wait for."""

    def __init__(self, rehearsal: Rehearsal, rows: Any, keeps: bool) -> None:
        super().__init__()
        self.settled = self.handed = self._number = 0
        self._written = b""
        self._records: list[Record] = []
        self._metrics = Metrics(rows)
        schemes = tuple(map(_that_has_found_nobody, rehearsal.service.schemes))
        service = dataclasses.replace(rehearsal.service, together=rows.together, schemes=schemes)
        self.application = Application(service, rows, self._observe)
        begun = self.application.asked

        def asked(*request: Any) -> Any:
            asking = begun(*request)
            self.settled += isinstance(asking, Settled)
            self.handed += isinstance(asking, Awaiting) or (isinstance(asking, Asking) and asking.handed is not None)
            return asking

        core: Any = self.application
        core.asked = asked
        door = Door(lambda *told: None, 30.0, core=core)
        self._connection = Protocol(self.application, State(), door)
        if not keeps:
            self._connection.requests = Requests(None)
        self._connection.connection_made(self)

    async def answer(self, told: Told) -> bytes:
        self._written = b""
        query = b"?" + told.query if told.query else b""
        length = {"content-length": str(len(told.body))} if told.body else {}
        fields = {"host": "service", **told.headers, **length}
        if OWN in fields:
            self._number += 1
            fields[OWN] = str(self._number)
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        request = b"%b %b%b HTTP/1.1\r\n%b\r\n" % (told.method.encode(), told.path, query, head.encode("latin-1"))
        self._connection.data_received(request + told.body)
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
        text = exposed(self._metrics, "")[0].decode()
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


def _that_has_found_nobody(scheme: Scheme) -> Scheme:
    if not isinstance(scheme.known_by, Tokens):
        return scheme
    scheme = copy(scheme)
    scheme.known_by = copy(scheme.known_by)
    assert isinstance(scheme.known_by, Tokens)
    scheme.known_by.last = Cache(MOST_KEPT)
    return scheme
