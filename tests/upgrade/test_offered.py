"""Of each question that `upgrade` asks each answer that it offers is one that it takes, and that leads on: to an
upgrade, to another question, or to a refusal of the rows that says why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from msgspec import structs
from tests.contracts import SERVED, compiled, contract_of
from tests.slices import some
from tests.upgrade.test_decided import decided
from tests.upgrade.test_matrix import CHANGES, databases, loaded, path, plan, rehearsed

from ninefold.plan.schema import Column
from ninefold.runtime.store import upgrade
from ninefold.runtime.store.changing import Judged, NotUpgraded
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.upgrade.shape import identifier_type
from ninefold.values import Array, Boolean, Integer, Number, Row, Text, Timestamp, Type

__all__ = ["databases", "path"]

ASKED = [name for name, change in CHANGES.items() if change["serve"] != "always"]
REFUSALS = "rows would refer to nothing", "what is decided cannot be worked out for a row: "
"""What the rows that are there may say to an answer."""


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("name", some(ASKED, 4))
def test_what_is_offered_leads_on(path: Path, name: str) -> None:
    tried = 0
    for question in (each for each in rehearsed(path, name).changes if each.why):
        assert question.write, f"nothing is offered: {question.why}"
        for line in question.write:
            for answer in filled(name, line):
                tried += 1
                try:
                    after = rehearsed(path, name, answer)  # fails where the answer cannot be decided
                except NotUpgraded as error:
                    assert str(error).startswith(REFUSALS), (answer, str(error))
                    continue
                # What is offered whole is as the field says, too; what a stranger completes may not be.
                field = re.match(r"\{set: ([^,]+), is: [^…]*$", line)
                assert field is None or not any(f"do not fit `{field[1]}`" in said(each) for each in after.changes), (
                    answer
                )
                # Of a check nobody knows which field it is that is wrong.
                assert "room.…" in line or not is_asked_again(question, after.changes), answer
    assert tried or CHANGES[name].get("upgrade") == "always"


def said(each: Judged) -> str:
    return " ".join((*each.why, each.change.words))


def is_asked_again(question: Judged, after: tuple[Judged, ...]) -> bool:
    return any(each.why == question.why for each in after)


def filled(name: str, line: str) -> Iterator[str]:
    """An answer as a stranger would complete it: the value by the type of the field, all rows, each state."""
    answer, _, comment = line.partition("   # ")
    if answer.startswith("{state:"):
        for state in re.findall(r"\w+", comment.partition("to: ")[2].replace(" or ", " ")) if "…" in answer else [""]:
            yield answer.replace("…", state)
        return
    answer = answer.replace("where: …", 'where: "true"').replace("room.…", "room.size")
    if "…" not in answer:
        yield answer
        return
    table, _, field = answer.partition("set: ")[2].partition(",")[0].partition(".")
    column = next(
        each for of in plan(name).schema.tables if of.name == table for each in of.columns if each.name == field
    )
    yield answer.replace("…", f'"{value_of(name, table, column)}"')


def value_of(name: str, table: str, column: Column) -> str:
    """Another one in each row, as its primary key tells them apart; of a reference one that is there, if any is."""
    old, number = "old.id", f"int(string(old.id).replace('{table[0]}', ''))"
    type_: Type = column.type
    if isinstance(type_, Row):
        known = identifier_type(type_.resource, plan(name).schema)
        return "1" if isinstance(known, Integer) else f"'{type_.resource[0]}1'"
    match type_:
        case Integer():
            return number
        case Number():
            return f"double({number})"
        case Boolean():
            return "true"
        case Timestamp():
            return "timestamp('2026-01-01T00:00:00Z')"
        case Array():
            return f"[string({old})]"
        case Text():
            return f"'R' + string({old})"
        case _:
            raise AssertionError(f"no value of {type_} is thought of: {loaded(name).source.name}")


@pytest.mark.parametrize("rows", [3])
def test_a_reference_does_not_follow_a_row_that_goes(path: Path) -> None:
    """Its value would be none, without a word, or an error of the database where it is required."""
    name = "another primary key, and rows that are referred to go"
    [found] = [each for each in rehearsed(path, name, CHANGES[name]["decisions"][0]).changes if each.why]
    assert found.why == (
        "field `booking.room`, follows the primary key of `room`, and 1 row refers to what is not there any more",
    )
    assert found.write == ("{remove rows: booking, where: …}",)


def test_deliveries_to_other_rows_begin_anew_where_that_is_decided(tmp_path: Path) -> None:
    [directory] = [each for each in SERVED if each.name == "subscriptions-to-what-happens"]
    found, path = compiled(contract_of(directory)).plan, str(tmp_path / "doors.db")
    assert found is not None
    opening = open_sqlite(path, found.schema)
    assert isinstance(opening, Opened)
    opening.database.close()
    connection = apsw.Connection(path)
    connection.execute("INSERT INTO \"$subscription\" (id, who, caller) VALUES ('s', 'w', 'c')")
    wanted = structs.replace(found.schema, subscribers=("door", "name"))
    [question] = [each for each in upgrade.preview(path, wanted).changes if each.why]
    assert question.write == ("{lose: deliveries}",)
    assert upgrade.upgrade(path, wanted, decide=decided(wanted, *question.write)).made
    assert connection.execute('SELECT count(*) FROM "$subscription"').fetchall() == [(0,)]
    [(made,)] = connection.execute("SELECT sql FROM sqlite_schema WHERE name = '$subscription'").fetchall()
    assert 'REFERENCES "door" ("name")' in str(made)
    connection.close()
