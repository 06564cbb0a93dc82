"""What a document decides over rows that are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace
from tests.contracts import ROOT
from tests.upgrade.test_shapes import (
    FIRST,
    LINE,
    ORDER,
    PERSON,
    SETTING,
    column,
    dump,
    path,
    with_schema,
    with_table,
)

from ninefold import pipeline
from ninefold.diagnostics.source import Source
from ninefold.plan.schema import Column, Machine, Reference, Schema
from ninefold.runtime.store import undo, upgrade
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.tools.decisions import document
from ninefold.tools.decisions.contract import Ways, formerly
from ninefold.tools.decisions.decide import decide
from ninefold.tools.decisions.document import NOTHING_DECIDED, Decided, Decision, Rename
from ninefold.upgrade.changes import Outcome
from ninefold.upgrade.shape import digest
from ninefold.values import Array, Integer, Number, Row, Text, Timestamp

__all__ = ["path"]

PEOPLE = replace(PERSON, name="human")
DECISIONS: dict[str, tuple[Schema, str, dict[str, list[Any]]]] = {
    "a field with another name": (
        column(PERSON, "born", Column("birthday", Timestamp())),
        "{rename: person.born, to: person.birthday}",
        {"person": [(1, "Ann", "2000-01-01T00:00:00.000000Z", "p1"), (2, "Bob", None, "p2")]},
    ),
    "a field that is unique with another name": (
        with_table(
            replace(
                PERSON,
                columns=(PERSON.columns[0], Column("nick", Text(), True), PERSON.columns[2]),
                indexes=(replace(PERSON.indexes[0], name="person unique nick", columns=("nick",)),),
            )
        ),
        "{rename: person.name, to: person.nick}",
        {"person": [(1, "Ann", "2000-01-01T00:00:00.000000Z", "p1"), (2, "Bob", None, "p2")]},
    ),
    "what rows are known by with another name": (
        Schema(
            (
                PERSON,
                replace(ORDER, columns=(Column("id", Text(), True), *ORDER.columns[1:]), key=("id",)),
                replace(LINE, references=(Reference("order", "order", "id", "cascade"),)),
                SETTING,
            )
        ),
        "{rename: order.number, to: order.id}",
        {"line": [("a", 1, "one", "l1"), ("a", 2, None, "l2")]},
    ),
    "a resource with another name": (
        Schema(
            (
                PEOPLE,
                replace(
                    ORDER,
                    columns=tuple(
                        replace(each, type=Row(resource="human")) if isinstance(each.type, Row) else each
                        for each in ORDER.columns
                    ),
                    references=tuple(replace(each, table="human") for each in ORDER.references),
                ),
                LINE,
                SETTING,
            )
        ),
        "{rename: person, to: human}",
        {"human": [(1, "Ann", "2000-01-01T00:00:00.000000Z", "p1"), (2, "Bob", None, "p2")]},
    ),
    "not another name": (
        column(PERSON, "born", Column("birthday", Timestamp())),
        "{aside: person.born}",
        {"person": [(1, "Ann", None, "p1"), (2, "Bob", None, "p2")]},
    ),
    "a value for all": (
        with_table(replace(PERSON, columns=(*PERSON.columns, Column("nick", Text(), True)))),
        "{set: person.nick, is: \"old.name + '!'\"}",
        {"person": [(1, "Ann", "2000-01-01T00:00:00.000000Z", "Ann!", "p1~"), (2, "Bob", None, "Bob!", "p2~")]},
    ),
    "a value for those who have none": (
        column(ORDER, "count", Column("count", Integer(), True)),
        '{set: order.count, is: 0, where: "!has(old.count)"}',
        {
            "order": [
                ("a", "x", 1, 2, 3, '["q"]', "open", "o1", "2026-01-01T00:00:00.000000Z"),
                ("b", "y", 2, None, 0, None, "shut", "o2~", "2026-01-02T00:00:00.000000Z"),
            ]
        },
    ),
    "another type": (
        column(ORDER, "count", Column("count", Text())),
        "{set: order.count, is: string(old.count), where: has(old.count)}",
        {
            "order": [
                ("a", "x", 1, 2, "3", '["q"]', "open", "o1~", "2026-01-01T00:00:00.000000Z"),
                ("b", "y", 2, None, None, None, "shut", "o2", "2026-01-02T00:00:00.000000Z"),
            ]
        },
    ),
    "a list of what was one": (
        column(ORDER, "code", Column("code", Array(items=Text()), True)),
        '{set: order.code, is: "[old.code]"}',
        {
            "order": [
                ("a", '["x"]', 1, 2, 3, '["q"]', "open", "o1~", "2026-01-01T00:00:00.000000Z"),
                ("b", '["y"]', 2, None, None, None, "shut", "o2~", "2026-01-02T00:00:00.000000Z"),
            ]
        },
    ),
    "a reference to others": (
        with_table(
            replace(
                LINE,
                columns=(*LINE.columns, Column("by", Row(resource="person"), True)),
                references=(*LINE.references, Reference("by", "person", "id", "cascade")),
            )
        ),
        "{set: line.by, is: 2}",
        {"line": [("a", 1, "one", 2, "l1~"), ("a", 2, None, 2, "l2~")]},
    ),
    "another state": (
        with_table(replace(ORDER, machine=Machine("state", ("open", "lost")))),
        "{state: order.shut, to: lost, since: kept}",
        {
            "order": [
                ("a", "x", 1, 2, 3, '["q"]', "open", "o1", "2026-01-01T00:00:00.000000Z"),
                ("b", "y", 2, None, None, None, "lost", "o2~", "2026-01-02T00:00:00.000000Z"),
            ]
        },
    ),
    "rows that go": (
        column(ORDER, "count", Column("count", Integer(), True)),
        '{remove rows: order, where: "!has(old.count)"}',
        {"order": [("a", "x", 1, 2, 3, '["q"]', "open", "o1", "2026-01-01T00:00:00.000000Z")]},
    ),
    "values that go": (
        column(ORDER, "tags", Column("tags", Text())),
        "{lose: order.tags}",
        {
            "order": [
                ("a", "x", 1, 2, 3, None, "open", "o1", "2026-01-01T00:00:00.000000Z"),
                ("b", "y", 2, None, None, None, "shut", "o2", "2026-01-02T00:00:00.000000Z"),
            ]
        },
    ),
}


class Told(Exception):
    """What cannot be decided: the codes."""


def read_of(change: str) -> tuple[Decision, ...]:
    return document.read(Source("a.upgrade.yaml", f"changes:\n  - {change}\n")).value.decisions


def decided(schema: Schema, *changes: str, made_for: str = "") -> Callable[..., Outcome]:
    lines = [*([f"from: {made_for}"] if made_for else []), "changes:", *(f"  - {each}" for each in changes)]
    read = document.read(Source("a.upgrade.yaml", "\n".join(lines) + "\n"))
    assert not read.diagnostics

    def outcome(stored: Schema, kept: object = None) -> Outcome:
        found, diagnostics = decide(read.value, stored, schema)
        if diagnostics:
            assert all(each.labels for each in diagnostics)
            raise Told(*(each.code.id for each in diagnostics))
        return found

    return outcome


@pytest.mark.parametrize("name", DECISIONS)
def test_what_is_decided_is_done(path: Path, name: str) -> None:
    schema, change, rows = DECISIONS[name]
    before = dump(path)
    answered = decided(schema, change, made_for=digest(FIRST))
    assert not upgrade.preview(str(path), schema).goes, "it is asked"
    assert upgrade.preview(str(path), schema, answered).goes
    assert dump(path) == before, "a preview changes nothing"
    done = upgrade.upgrade(str(path), schema, decide=answered)
    assert done.made and done.backup is not None
    after = dump(path, schema)
    assert {each: after[each] for each in rows} == rows
    assert with_schema(path, schema) == ()
    undo.undo(str(path))
    assert dump(path) == before


def test_a_name_that_part_9_says_a_field_had_is_inherited(path: Path) -> None:
    """Unless something else is decided of it, or the database knows the field by its name of now."""
    loaded = pipeline.load(str(ROOT / "tests" / "cases" / "a-version-in-the-path" / "contract.md"))
    assert [(each.old.text, each.new.text) for each in formerly(loaded.contract)] == [("day.millimetres", "day.rain")]
    schema = DECISIONS["a field with another name"][0]
    (older,) = (each for each in read_of("{rename: person.born, to: person.birthday}") if isinstance(each, Rename))
    inherited, _ = decide(NOTHING_DECIDED, FIRST, schema, ways=Ways(names=(older,)))
    assert [each.words for each in inherited.inherited] == ["person.birthday was person.born, as part 9 says"]
    assert upgrade.upgrade(str(path), schema, decide=lambda *_: inherited).made
    assert [row[2] for row in dump(path, schema)["person"]] == ["2000-01-01T00:00:00.000000Z", None]
    aside = Decided(None, tuple(read_of("{aside: person.born}")))
    for decided_, stored in ((aside, FIRST), (NOTHING_DECIDED, schema)):
        assert decide(decided_, stored, schema, ways=Ways(names=(older,)))[0].inherited == ()


def test_values_that_were_converted_are_kept(path: Path) -> None:
    schema, change, _ = DECISIONS["another type"]
    assert upgrade.upgrade(str(path), schema, decide=decided(schema, change)).aside == (("order.count", 1),)


def test_what_is_given_to_some_rows_leaves_the_others_the_number_that_they_have(path: Path) -> None:
    """Also as a number of the other type, which nobody has to decide."""
    schema = column(ORDER, "count", Column("count", Number()))
    upgrade.upgrade(
        str(path), schema, decide=decided(schema, "{set: order.count, is: '9.5', where: old.number == 'b'}")
    )
    assert {row[0]: row[4] for row in dump(path, schema)["order"]} == {"a": 3.0, "b": 9.5}


def test_values_that_are_lost_are_counted_and_gone(path: Path) -> None:
    schema, change, _ = DECISIONS["values that go"]
    done = upgrade.upgrade(str(path), schema, decide=decided(schema, change))
    assert (done.lost, done.aside) == ((("order.tags", 1),), ())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("{rename: person.burn, to: person.birthday}", "NF0691"),
        ("{rename: person.born, to: person.name}", "NF0691"),
        ("{rename: persn, to: human}", "NF0691"),
        ("{set: person.nothing, is: 1}", "NF0691"),
        ("{set: person.id, is: old.name}", "NF0408"),
        ("{set: person.name, is: old.nam}", "NF0403"),
        ("{state: order.open, to: nowhere, since: now}", "NF0691"),
        ("{remove rows: orders}", "NF0691"),
    ],
)
def test_what_cannot_be_decided_is_said_at_its_place(path: Path, change: str, code: str) -> None:
    before = path.read_bytes()
    with pytest.raises(Told, match=code):
        upgrade.upgrade(str(path), FIRST, decide=decided(FIRST, change))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["", "changes: 1", "changes: [{fill: a}]", "changes: [{rename: a}]", "other: 1", "changes: [{state: a.b, to: c}]"],
)
def test_what_is_no_document_of_an_upgrade_is_said(text: str) -> None:
    outcome = document.read(Source("a.upgrade.yaml", text))
    assert [each.code.id for each in outcome.diagnostics] == ["NF0690"]


@pytest.mark.parametrize(
    "text", ["changes:\n  - {set: a.b, is: 'x}\n", "changes: [\n", "changes:\n\t- {aside: a.b}\n", "{", "*a\n", "'"]
)
def test_what_cannot_be_read_is_told_once(text: str) -> None:
    outcome = document.read(Source("a.upgrade.yaml", text))
    [found] = outcome.diagnostics
    assert found.code.id.startswith("NF02")


def test_it_is_for_one_database_alone(path: Path) -> None:
    schema, change, _ = DECISIONS["another state"]
    answered = decided(schema, change, made_for="0123456789ab")
    with pytest.raises(Told, match="NF0692"):
        upgrade.preview(str(path), schema, answered)


def test_what_fails_for_a_row_changes_nothing(path: Path) -> None:
    schema, before = DECISIONS["another type"][0], dump(path)
    with pytest.raises(NotUpgraded, match="cannot be worked out"):
        upgrade.upgrade(str(path), schema, decide=decided(schema, "{set: order.count, is: string(old.count)}"))
    assert dump(path) == before
    assert not list(path.parent.glob("*.before-*"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("{set: order.count, is: string(old.count / 0)}", "string(old.count / 0): division by zero"),
        ("{remove rows: order, where: 'old.tags.exists(t, t > 5)'}", "old.tags.exists(t, t > 5): not an integer"),
    ],
)
def test_what_fails_for_a_row_says_for_which_and_in_which_line(path: Path, change: str, why: str) -> None:
    with pytest.raises(NotUpgraded) as told:
        upgrade.preview(str(path), DECISIONS["another type"][0], decided(DECISIONS["another type"][0], change))
    assert f"a.upgrade.yaml:2, of the row with number a: {why}" in str(told.value), str(told.value)


def test_rows_that_others_refer_to_do_not_go_alone(path: Path) -> None:
    before = dump(path)
    with pytest.raises(NotUpgraded, match="refer to nothing"):
        upgrade.upgrade(str(path), FIRST, decide=decided(FIRST, "{remove rows: order}"))
    assert dump(path) == before
    done = upgrade.upgrade(str(path), FIRST, decide=decided(FIRST, "{remove rows: order}", "{remove rows: line}"))
    assert done.made and dump(path)["order"] == []
    assert dict(done.removed) == {name: len(before[name]) for name in ("order", "line")} != {"order": 0, "line": 0}


@pytest.mark.parametrize("renamed", [False, True])
def test_rows_that_go_are_counted_before(path: Path, renamed: bool) -> None:
    """Also of a resource that has another name then."""
    before = len(dump(path)["person"])
    schema, rename, _ = DECISIONS["a resource with another name"] if renamed else (FIRST, "", {})
    decisions = [each for each in ("{remove rows: line}", "{remove rows: order}", rename) if each]
    gone = f"{{remove rows: {'human' if renamed else 'person'}, where: \"old.name == 'Ann'\"}}"
    found = upgrade.preview(str(path), schema, decide=decided(schema, *decisions, gone))
    assert found.goes and dict(found.removed)["person"] == 1 < before


def test_a_service_opens_what_was_decided(path: Path) -> None:
    schema, change, _ = DECISIONS["a resource with another name"]
    upgrade.upgrade(str(path), schema, decide=decided(schema, change))
    opening = open_sqlite(str(path), schema)
    assert isinstance(opening, Opened) and opening.additions == ()
    opening.database.close()
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", True)
    connection.execute("DELETE FROM human WHERE id = 1")
    assert connection.execute('SELECT count(*) FROM "order"').fetchall() == [(1,)]
    connection.close()
