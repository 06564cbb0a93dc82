"""Rows that the contract itself states: there at every start, as it states them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contracts import plan_of
from tests.looking import looking_into

from ninefold.pipeline import compile_document
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.store.protocol import Refused
from ninefold.runtime.store.sqlite import Opened, open_sqlite

SHOP = """\
# Shop

## 1. What the service does

Sells plans.

## 2. Resources and their fields

```yaml
currency:
  primary key: code
  fields:
    code: {type: string, pattern: "^[A-Z]{3}$"}
  records: [{code: EUR}, {code: USD}]
plan:
  primary key: [name, currency]
  fields:
    name:     {type: string, normalise: value.trim()}
    currency: {references: currency, on delete: cascade}
    price:    {type: integer, minimum: 0}
    perks:    {type: array, items: {type: string}, on create: "[]"}
    terms:    {type: object, properties: {months: {type: integer}}}
    from:     {type: string, format: date-time}
    state:    {state: true}
    made_at:  {type: string, format: date-time, on create: now}
    changed:  {type: string, format: date-time, on change: now}
    note:     {type: [string, "null"]}
  required: [price]
  check: {that: plan.price < 1000}
  records:
    - {name: free, currency: EUR, price: 0}
    - name: " pro "
      currency: USD
      price: 25
      perks: [support, "none"]
      terms: {months: 12}
      from: 2026-01-01T00:00:00+01:00
part:
  primary key: id
  fields:
    id:   {type: integer}
    part: {references: part, inverse: parts, on delete: cascade}
  records: [{id: 2, part: 1}, {id: 1, part: none}, {id: 3, part: 2}]
```

## 3. States and transitions

```yaml
currency: none
plan: {initial: offered, states: [offered], transitions: none}
part: none
```

## 4. Endpoints

Endpoints: none.

## 5. Authentication

Authentication: none.

## 6. Events

Events: none.

## 7. Errors

Errors: none.

## 8. Limits

Limits: none.

## 9. Versioning

Versions: none.
"""


def opened(path: Path, text: str = SHOP) -> Opened | Refused:
    plan = plan_of(text)
    opening = open_sqlite(str(path / "shop.db"), plan.schema, stated_rows(plan, Caller({})))
    if isinstance(opening, Opened):
        opening.database.close()
    return opening


def began(path: Path, text: str = SHOP) -> tuple[str, ...]:
    opening = opened(path, text)
    assert isinstance(opening, Opened), opening
    return opening.began


def rows(path: Path, select: str) -> list[tuple[Any, ...]]:
    # Closed at once: another library in this process, which closes it later, takes the log away with it.
    with closing(sqlite3.connect(path / "shop.db")) as connection:
        return connection.execute(select).fetchall()


def test_they_are_there_at_the_first_start_and_the_second(tmp_path: Path) -> None:
    assert began(tmp_path) == (
        "the record `currency` EUR",
        "the record `currency` USD",
        "the record `plan` free/EUR",
        "the record `plan` pro/USD",
        "the record `part` 1",
        "the record `part` 2",
        "the record `part` 3",
    )
    assert rows(tmp_path, 'SELECT name, price, perks, terms, "from", state FROM plan ORDER BY name') == [
        ("free", 0, "[]", None, None, "offered"),
        ("pro", 25, '["support","none"]', '{"months":12}', "2025-12-31T23:00:00.000000Z", "offered"),
    ]
    assert began(tmp_path) == ()


def test_a_record_is_brought_back_to_what_is_stated(tmp_path: Path) -> None:
    began(tmp_path)
    before = rows(tmp_path, "SELECT made_at, changed, \"$revision\" FROM plan WHERE name = 'free'")
    with looking_into(tmp_path / "shop.db") as connection:
        connection.execute("UPDATE plan SET price = 3, note = 'sale' WHERE name = 'free'")
        connection.execute("DELETE FROM part WHERE id = 3")
    dearer = SHOP.replace("price: 25", "price: 30").replace("[support, ", "[support, chat, ")
    assert began(tmp_path, dearer) == (
        "the record `plan` free/EUR: price",
        "the record `plan` pro/USD: price, perks",
        "the record `part` 3",
    )
    assert rows(tmp_path, "SELECT price, note FROM plan ORDER BY name") == [(0, "sale"), (30, None)]
    [(made, changed, revision)] = rows(tmp_path, "SELECT made_at, changed, \"$revision\" FROM plan WHERE name = 'free'")
    assert made == before[0][0] and changed > before[0][1] and revision != before[0][2]


def test_one_that_an_invariant_refuses_stops_the_start(tmp_path: Path) -> None:
    refused = opened(tmp_path, SHOP.replace("price: 25", "price: 2500"))
    assert isinstance(refused, Refused)
    assert refused.message == "the record `plan` pro/USD is refused: check plan"
    assert rows(tmp_path, "SELECT count(*) FROM currency") == [(0,)]


NUMBERED = SHOP.replace("    id:   {type: integer}\n", "    id:   {type: integer, on create: serial()}\n")


def test_they_state_the_numbers_that_the_service_gives_otherwise(tmp_path: Path) -> None:
    assert began(tmp_path, NUMBERED)[-3:] == ("the record `part` 1", "the record `part` 2", "the record `part` 3")
    with looking_into(tmp_path / "shop.db") as connection:
        connection.execute("INSERT INTO part (\"$revision\") VALUES ('r')")
    assert rows(tmp_path, "SELECT id, part FROM part ORDER BY id") == [(1, None), (2, 1), (3, 2), (4, None)]
    assert began(tmp_path, NUMBERED.replace("{id: 3, part: 2}", "{id: 3, part: 1}, {id: 9}")) == (
        "the record `part` 3: part",
        "the record `part` 9",
    )
    assert rows(tmp_path, "SELECT id, part FROM part WHERE id > 2 ORDER BY id") == [(3, 1), (4, None), (9, None)]


@pytest.mark.parametrize(
    ("written", "wrong", "code", "message", "label"),
    [
        ("price: 0}", "price: -1}", "NF0571", "the value of `plan.price` is not as its schema says", "-1"),
        ("months: 12", "months: a", "NF0571", "the value of `plan.terms` is not as its schema says", "a"),
        ("code: EUR", "code: eur", "NF0571", "the value of `currency.code` is not as its schema says", "eur"),
        ("price: 0}", "price: 0, state: offered}", "NF0571",
         "`plan.state` is the state, which moves by transitions alone", "offered"),
        ("price: 0}", "note: a}", "NF0572", "a record of `plan` has no `price`", None),
        ("{name: free, currency", "{currency", "NF0572", "a record of `plan` has no `name`", None),
        ("{code: USD}", "{code: USD}, {code: EUR}", "NF0573", "two records of `currency` have the same `code`", "EUR"),
        ("currency: EUR,", "currency: GBP,", "NF0574",
         "a record of `plan` refers to a `currency` that is not among the records", "GBP"),
        ("{id: 1, part: none}", "{id: 1, part: 3}", "NF0574", "records refer to each other in a circle", None),
        ("{id: 1, part: none}", "{id: 1, part: 1}", "NF0574", "records refer to each other in a circle", None),
    ],
)  # fmt: skip
def test_what_a_record_cannot_be(written: str, wrong: str, code: str, message: str, label: str | None) -> None:
    assert SHOP.count(written) == 1
    loaded = compile_document("shop.md", SHOP.replace(written, wrong).encode())
    [told] = [each for each in loaded.diagnostics if each.code.id == code]
    assert told.message == message
    if label is not None:
        span = told.labels[0].span
        assert loaded.source.text[span.start : span.end] == label
