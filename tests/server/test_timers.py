"""Transitions that the service takes by itself: at their time, once, also after it was down, in reads too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from tests.contracts import plan_of
from tests.looking import looking_into
from tests.server.conftest import Running, running
from tests.slices import LONG
from tests.waiting import until

from ninefold.pipeline import compile_document
from ninefold.runtime.operations.timers import BATCH
from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

LOANS = """\
# Loans

## 1. What the service does

Lends things, reminds, and forgets.

## 2. Resources and their fields

```yaml
loan:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    item:     {type: string, unique: true}
    note:     {type: [string, "null"]}
    kept:     {type: boolean, on create: "false"}
    fee:      {type: integer, on create: "0", maximum: 100}
    state:    {state: true}
    reminded: {type: string, format: date-time}
    closed:   {type: string, format: date-time}
    changed:  {type: string, format: date-time, on change: now}
  required: [item]
  check: {that: loan.fee < 100, else: too_dear}
```

## 3. States and transitions

```yaml
loan:
  initial: out
  states: [out, late, lost, back]
  transitions:
    remind: {from: out,         to: late, after: PT1H, sets: {reminded: now, fee: loan.fee + 10}}
    lose:   {from: late,        to: lost, after: PT30M, check: {that: "!loan.kept"}, sets: {closed: now}}
    return: {from: [out, late], to: back, sets: {closed: now}}
    renew:  {from: [out, late], to: out}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /loans:             {does: create loan, body: [item, kept, fee], responses: {201: loan}}
GET /loans:
  does: list loan
  query: {state: loan.state == value}
  sort: [id]
  responses: {200: {loans: page.items, total: page.total}}
GET /loans/{id}:         {does: read loan, responses: {200: loan}}
PATCH /loans/{id}:       {does: update loan, body: [kept, fee], patch: merge, responses: {200: loan}}
POST /loans/{id}/return: {does: return loan, body: none, responses: {200: loan}}
POST /loans/{id}/renew:  {does: renew loan, body: none, responses: {200: loan}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  too_dear: {status: 409}
  wrong:    {status: 409, for: illegal transition}
```

## 8. Limits

```yaml
rates: none
timeout: none
body size: none
pages: none
```

## 9. Versioning

Versions: none.
"""


class Hands:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def move(self, **by: float) -> None:
        self.time += timedelta(**by)

    def after(self, **by: float) -> str:
        """The time so much after the start, as the service writes it."""
        return (START + timedelta(**by)).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Lending:
    def __init__(self, service: Running, hands: Hands) -> None:
        self.service = service
        self.http = service.http
        self.hands = hands

    def lend(self, item: str, **more: Any) -> str:
        made = self.http.post("/loans", json={"item": item, **more})
        assert made.status_code == 201, made.text
        return f"/loans/{made.json()['id']}"

    def state(self, path: str) -> str:
        return str(self.http.get(path).json()["state"])


@contextmanager
def lending(path: Path, hands: Hands, text: str = LOANS) -> Iterator[Lending]:
    with running(plan_of(text), path / "loans.db", Sources(clock=hands)) as service:
        yield Lending(service, hands)


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator[Lending]:
    with lending(tmp_path, Hands()) as service:
        yield service


def test_what_is_due_has_happened_in_the_first_read(at_work: Lending) -> None:
    loan = at_work.lend("tent")
    at_work.hands.move(minutes=59, seconds=59.999999)
    assert at_work.state(loan) == "out"
    at_work.hands.move(microseconds=1)
    shown = at_work.http.get(loan).json()
    assert (shown["state"], shown["fee"]) == ("late", 10)
    assert shown["reminded"] == shown["changed"] == at_work.hands.after(hours=1)


def test_lists_filters_and_totals_see_it_too(at_work: Lending) -> None:
    for item in ("tent", "canoe"):
        at_work.lend(item)
    at_work.hands.move(hours=1)
    found = at_work.http.get("/loans", params={"state": "late"}).json()
    assert found["total"] == 2
    assert {each["state"] for each in found["loans"]} == {"late"}


def test_a_chain_is_taken_as_of_its_own_times(at_work: Lending) -> None:
    loan = at_work.lend("tent")
    at_work.hands.move(days=3)
    shown = at_work.http.get(loan).json()
    assert shown["state"] == "lost"
    assert shown["reminded"] == at_work.hands.after(hours=1)
    assert shown["closed"] == at_work.hands.after(hours=1, minutes=30)


def test_it_happens_once(at_work: Lending) -> None:
    loan = at_work.lend("tent", kept=True)
    at_work.hands.move(hours=1)
    assert [at_work.http.get(loan).json()["fee"] for _ in range(3)] == [10, 10, 10]
    at_work.hands.move(hours=10)
    assert at_work.http.get(loan).json()["fee"] == 10


def test_it_happens_after_the_service_was_down(tmp_path: Path) -> None:
    hands = Hands()
    with lending(tmp_path, hands) as service:
        loan = service.lend("tent")
    hands.move(days=1)
    with lending(tmp_path, hands) as service:
        shown = service.http.get(loan).json()
    assert (shown["state"], shown["closed"]) == ("lost", hands.after(minutes=90))


def test_it_happens_where_nobody_asks(tmp_path: Path) -> None:
    """The clock that runs wakes the service."""
    with running(plan_of(LOANS.replace("PT1H", "PT0.2S")), tmp_path / "loans.db") as service:
        service.http.post("/loans", json={"item": "tent"})
        with looking_into(service.database._path) as connection:
            until(lambda: connection.execute("SELECT state FROM loan").fetchone() == ("late",))


def test_a_transition_that_returns_counts_anew(at_work: Lending) -> None:
    loan = at_work.lend("tent")
    at_work.hands.move(minutes=40)
    assert at_work.http.post(f"{loan}/renew").status_code == 200
    at_work.hands.move(minutes=40)
    assert at_work.state(loan) == "out"
    at_work.hands.move(minutes=20)
    assert at_work.state(loan) == "late"


def test_one_that_left_in_time_is_left_alone(at_work: Lending) -> None:
    loan = at_work.lend("tent")
    at_work.hands.move(minutes=59)
    assert at_work.http.post(f"{loan}/return").json()["state"] == "back"
    at_work.hands.move(days=1)
    assert at_work.state(loan) == "back"


def test_a_write_comes_too_late(at_work: Lending) -> None:
    loan = at_work.lend("tent")
    at_work.hands.move(days=1)
    refused = at_work.http.post(f"{loan}/return")
    assert (refused.status_code, refused.json()) == (409, {"code": "wrong"})


def test_a_guard_keeps_it_until_it_holds(at_work: Lending) -> None:
    """It is asked again after the write that lets it hold, and taken as of then."""
    loan = at_work.lend("tent", kept=True)
    at_work.hands.move(hours=5)
    assert at_work.state(loan) == "late"
    at_work.http.patch(loan, json={"kept": False})
    shown = at_work.http.get(loan).json()
    assert (shown["state"], shown["closed"]) == ("lost", at_work.hands.after(hours=5))


def test_one_that_waits_keeps_no_other_from_its_time(at_work: Lending) -> None:
    kept = at_work.lend("tent", kept=True)
    at_work.hands.move(minutes=10)
    other = at_work.lend("canoe")
    at_work.hands.move(hours=5)
    assert at_work.http.get(other).json()["closed"] == at_work.hands.after(minutes=100)
    assert at_work.state(kept) == "late"


def test_an_invariant_keeps_it_too(at_work: Lending) -> None:
    loan = at_work.lend("tent", fee=95)
    other = at_work.lend("canoe")
    at_work.hands.move(hours=1)
    assert at_work.state(loan) == "out"
    assert at_work.state(other) == "late"
    at_work.http.patch(loan, json={"fee": 5})
    assert at_work.http.get(loan).json() | {"changed": None} == {
        "id": 1,
        "item": "tent",
        "note": None,
        "kept": False,
        "fee": 15,
        "state": "late",
        "reminded": at_work.hands.after(hours=1),
        "changed": None,
    }


@pytest.mark.parametrize("fee", ["10 / loan.fee", "loan.fee * 9223372036854775807 * (10 / loan.fee)"])
def test_a_value_that_cannot_be_made_keeps_it_and_nothing_else(tmp_path: Path, fee: str) -> None:
    """One row for which the contract's own expression fails stops no other row and no request."""
    hands = Hands()
    with lending(tmp_path, hands, LOANS.replace("fee: loan.fee + 10", f"fee: {fee}")) as service:
        kept, other = service.lend("tent"), service.lend("canoe", fee=1 if "9223" not in fee else 0)
        hands.move(hours=1)
        assert (service.state(kept), service.http.get("/loans").status_code) == ("out", 200)
        assert service.state(other) == ("late" if "9223" not in fee else "out")
        service.http.patch(kept, json={"fee": 2})
        assert service.state(kept) == ("late" if "9223" not in fee else "out")


def test_a_unique_value_that_is_taken_keeps_it(tmp_path: Path) -> None:
    hands = Hands()
    with lending(tmp_path, hands, LOANS.replace("fee: loan.fee + 10", "item: \"'late'\"")) as service:
        loans = [service.lend("tent"), service.lend("canoe")]
        hands.move(hours=1)
        assert [service.state(loan) for loan in loans] == ["late", "out"]


def test_a_guard_that_reads_the_time(tmp_path: Path) -> None:
    """Rows are asked as of when they fell due, and later as of now."""
    hands = Hands()
    text = LOANS.replace('that: "!loan.kept"', "that: \"now >= timestamp('2026-03-01T20:00:00Z')\"")
    with lending(tmp_path, hands, text) as service:
        loan = service.lend("tent")
        hands.move(hours=2)
        assert service.state(loan) == "late"
        hands.move(hours=7)
        assert service.http.get(loan).json()["closed"] == hands.after(hours=9)


def test_many_rows_are_taken_in_order_and_all(at_work: Lending) -> None:
    """More than one transaction takes."""
    for index in range(450):
        at_work.lend(f"item {index}", kept=index % 3 == 0)
        at_work.hands.move(milliseconds=1)
    at_work.hands.move(days=1)
    with ThreadPoolExecutor(8) as threads:
        totals = list(
            threads.map(lambda _: at_work.http.get("/loans", params={"state": "lost"}).json()["total"], range(16))
        )
    assert totals == [300] * 16
    for each in at_work.http.get("/loans", params={"state": "lost"}).json()["loans"]:
        assert each["closed"] == at_work.hands.after(milliseconds=each["id"] - 1, minutes=90)


def test_racing_transitions_end_in_one_state(at_work: Lending) -> None:
    """A return and the timer at the same instant: one of them, never both."""
    loans = [at_work.lend(f"item {index}") for index in range(40)]
    at_work.hands.move(hours=1, minutes=29, seconds=59.999999)

    def give_back(path: str) -> int:
        at_work.hands.move(microseconds=0.1)
        return at_work.http.post(f"{path}/return").status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(give_back, loans))
    for path, status in zip(loans, statuses, strict=True):
        assert (at_work.state(path), status) in (("back", 200), ("lost", 409))


def test_what_no_request_causes_reads_none() -> None:
    text = LOANS.replace("sets: {closed: now}}\n    return", "sets: {note: caller.credential}}\n    return")
    loaded = compile_document("loans.md", text.encode())
    told = [each for each in loaded.diagnostics if each.code.id == "NF0570"]
    assert [each.message for each in told] == [
        "the transition `lose` of `loan` reads `caller`, and is taken without a request"
    ]
    assert loaded.source.place(told[0].labels[0].span.start).line == 34


def test_its_events_read_none_either() -> None:
    kinds = "```yaml\nkinds: {lost: {upon: lose loan, payload: {by: caller.name}}}\n```"
    scheme = "{type: openIdConnect, issuer: operator.issuer, audience: loans, caller: {name: claims.name}}"
    known = LOANS.replace("schemes: none", f"schemes: {{person: {scheme}}}")
    loaded = compile_document("loans.md", known.replace("Events: none.", kinds).encode())
    [told] = [each for each in loaded.diagnostics if each.code.id == "NF0570"]
    assert "reads `caller`" in told.message


def test_a_database_from_before_there_were_timers_counts_from_its_opening(tmp_path: Path) -> None:
    """Nobody noted when its rows entered their states."""
    hands = Hands()
    with lending(tmp_path, hands) as service:
        loan = service.lend("tent")
    with looking_into(tmp_path / "loans.db") as connection:
        connection.execute('DROP INDEX "loan by state $entered"')
        connection.execute('ALTER TABLE loan DROP COLUMN "$entered"')
        (shape,) = connection.execute("SELECT value FROM \"$ninefold\" WHERE name = 'shape'").fetchone()
        old = shape.replace(b',"states":true', b"").replace(
            b'{"name":"loan by state $entered","columns":["state","$entered"]},', b""
        )
        assert old != shape
        connection.execute("UPDATE \"$ninefold\" SET value = ? WHERE name = 'shape'", (old,))
    hands.time = datetime.now(UTC) - timedelta(minutes=1)
    with lending(tmp_path, hands) as service:
        assert service.state(loan) == "out"
        hands.move(minutes=62)
        assert service.state(loan) == "late"


def test_what_happens_by_itself_is_told(tmp_path: Path) -> None:
    """The events of a timer are written with it, as of its time, in the order in which rows fell due."""
    text = LOANS.replace(
        "Events: none.",
        "```yaml\nkinds:\n"
        "  reminded: {upon: remind loan, payload: {item: loan.item, at: now}}\n"
        "  lost:     {upon: lose loan, payload: loan}\n```",
    )
    hands = Hands()
    with lending(tmp_path, hands, text) as service:
        service.lend("tent")
        hands.move(minutes=20)
        service.lend("canoe")
        hands.move(days=1)
        service.http.get("/loans")
        with looking_into(service.service.database._path) as connection:
            told = connection.execute('SELECT kind, row, time FROM "$event" ORDER BY seq').fetchall()
    assert told == [
        ("reminded", "[1]", hands.after(minutes=60)),
        ("reminded", "[2]", hands.after(minutes=80)),
        ("lost", "[1]", hands.after(minutes=90)),
        ("lost", "[2]", hands.after(minutes=110)),
    ]


DUE: Final = 100_000 if LONG else 10_000
"""Rows that fall due at one time."""


@pytest.mark.slow
@pytest.mark.long
def test_very_many_at_once(tmp_path: Path) -> None:
    """They are taken in pieces, each of which is committed: a write that is on its way waits for one of them."""
    hands = Hands()
    with lending(tmp_path, hands) as service:
        service.lend("tent")
        with looking_into(service.service.database._path) as connection:
            fields = connection.execute("SELECT name FROM pragma_table_info('loan')").fetchall()
            columns = ", ".join(f'"{name}"' for (name,) in fields)
            connection.execute(
                f"WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {DUE}) INSERT INTO loan "
                f"({columns}) SELECT "
                + columns.replace('"id"', "i").replace('"item"', "'item ' || i")
                + " FROM loan, n WHERE id = 1"
            )
            hands.move(minutes=61)
            service.http.timeout = None
            seen = set()
            with ThreadPoolExecutor(1) as apart:
                asked = apart.submit(service.http.get, f"/loans/{DUE}")
                while not asked.done():
                    seen.add(connection.execute("SELECT count(*) FROM loan WHERE state = 'late'").fetchone()[0])
                    time.sleep(0.02)
        assert asked.result().json()["state"] == "late"
        assert seen & set(range(BATCH, DUE, BATCH)) and all(each % BATCH == 0 for each in seen)
