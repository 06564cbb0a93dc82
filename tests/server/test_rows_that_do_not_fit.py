"""A contract that was tightened over rows which no longer fit: what becomes of them is decided, and not by silence."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from math import inf
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from tests.contracts import plan_of

from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator import audit
from ninefold.runtime.operator.audit import Audit, Counted, counted
from ninefold.runtime.store import upgrade
from ninefold.runtime.store.protocol import Refused
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

CONTRACT = """
purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields:
      id:   {{type: string, maxLength: 40}}
      text: {text}
    required: [{required}]
states: none
endpoints:
  requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  POST /notes: {{does: create note, body: [id, text], responses: {{201: note}}}}
  GET /notes/{{id}}: {{does: read note, responses: {{200: note}}}}
authentication: {{schemes: none, rows: all, permissions: {{all others: anyone}}}}
events: none
errors:
  error shape: {{media type: application/json, body: {{code: error.code}}}}
  codes: {{wrong: {{status: 422, title: Wrong, for: invalid}}}}
limits: {{rates: none, body size: none, timeout: none}}
versioning: none
"""


def source(text: str, required: str = "id") -> str:
    return CONTRACT.format(text=text, required=required)


def plan(contract: str) -> ServicePlan:
    return plan_of(contract, "notes.yaml")


def fill(path: Path, contract: str, *values: Any) -> None:
    """A database of a contract, with a note for each value: `n1`, `n2` …"""
    opening = open_sqlite(str(path), plan(contract).schema)
    assert isinstance(opening, Opened), opening
    opening.database.close()
    connection = apsw.Connection(str(path))
    for number, value in enumerate(values, 1):
        kept = json.dumps(value) if isinstance(value, dict | list) else value
        connection.execute('INSERT INTO note (id, text, "$revision") VALUES (?, ?, ?)', (f"n{number}", kept, "r"))
    connection.close()


def looked_at(path: Path, contract: str, seconds: float = 60) -> Counted | Refused:
    tightened = plan(contract)
    opening = open_sqlite(str(path), tightened.schema)
    if isinstance(opening, Refused):
        return opening
    try:
        return counted(tightened.stored, opening.database.read, seconds)
    finally:
        opening.database.close()


@pytest.mark.parametrize(
    ("before", "after", "fit", "misfits"),
    [
        ("{type: string, maxLength: 200}", "{type: string, maxLength: 20}", ["x" * 20, "ä" * 20], ["x" * 21]),
        ("{type: string}", "{type: string, minLength: 2}", ["ab"], [""]),
        ("{type: string}", '{type: string, pattern: "^[a-z]+$"}', ["ab"], ["A", "a1"]),
        ("{type: string}", "{type: string, enum: [a, b]}", ["a", "b"], ["c"]),
        ("{type: string}", "{const: a}", ["a"], ["c"]),
        ("{type: string}", "{type: string, format: email}", ["a@example.org"], ["nobody"]),
        ("{type: string}", "{type: string, format: uuid}", ["5e1ee1c2-4b0a-4d8e-9c51-6d1d7ac2a9b1"], ["1"]),
        ("{type: integer}", "{type: integer, minimum: 3}", [3, 4], [2, -1]),
        ("{type: integer}", "{type: integer, multipleOf: 5}", [5], [6]),
        ("{type: number}", "{type: number, exclusiveMaximum: 1}", [0.5], [1.0]),
        ("{type: array, items: {type: integer}}", "{type: array, maxItems: 1}", [[1]], [[1, 2]]),
        ("{type: array, items: {type: [integer, string]}}", "{type: array, items: {type: integer}}", [[1]], [["a"]]),
        ("{type: array, items: {type: string}}", "{type: array, uniqueItems: true}", [["a"]], [["a", "a"]]),
        ("{type: object}", "{type: object, required: [a]}", [{"a": 1}], [{}, {"b": 1}]),
        (
            "{type: object}",
            "{type: object, properties: {a: {type: object, properties: {b: {type: [string, integer], maxLength: 2}}}}}",
            [{"a": {"b": "xy"}}, {"a": {"b": 7}}],
            [{"a": {"b": "xyz"}}],
        ),
        ("{type: object}", "{type: object, additionalProperties: false}", [{}], [{"a": 1}]),
        ("{type: [string, integer, object, array]}", "{type: [integer, object]}", [{"a": 1}, "7"], ['"text"', "[]"]),
    ],
)  # fmt: skip
def test_rows_that_do_not_fit_are_counted(
    tmp_path: Path, before: str, after: str, fit: list[Any], misfits: list[Any]
) -> None:
    path = tmp_path / "notes.db"
    fill(path, source(before), *fit, *misfits, *(None,) * 2)
    found = looked_at(path, source(after))
    assert isinstance(found, Counted), found
    first = len(fit) + 1
    rows = ", ".join(f"n{number}" for number in range(first, first + len(misfits)))
    fits = "row does" if len(misfits) == 1 else "rows do"
    keys = "primary key" if len(misfits) == 1 else "primary keys"
    assert [*found.words()] == [f"{len(misfits)} {fits} not fit `note.text` any more ({keys} {rows})"]
    # As they were, all fit.
    again = looked_at(path, source(before))
    assert isinstance(again, Counted) and not again.fields and not again.unfinished


@pytest.mark.parametrize(
    ("after", "required"),
    [
        ("{type: string}", "id, text"),
        ("{type: integer}", "id"),
        ("{type: string, format: date-time}", "id"),
        ("{type: string, unique: true}", "id"),
    ],
)
def test_what_the_database_itself_keeps_is_refused(tmp_path: Path, after: str, required: str) -> None:
    path = tmp_path / "notes.db"
    fill(path, source("{type: string}"), "same", "same", None)
    found = looked_at(path, source(after, required))
    assert isinstance(found, Refused) and any("`note.text`" in each or "`text`" in each for each in found.details)


def test_only_some_are_named_and_none_where_the_identifier_is_sensitive(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    fill(path, source("{type: string}"), *["too long"] * 1_234)
    found = looked_at(path, source("{type: string, maxLength: 3}"))
    assert isinstance(found, Counted)
    assert [*found.words()] == ["1,234 rows do not fit `note.text` any more (primary keys n1, n2, n3, …)"]
    hidden = source("{type: string, maxLength: 3}").replace("maxLength: 40}", "maxLength: 40, sensitive: true}")
    found = looked_at(path, hidden)
    assert isinstance(found, Counted)
    assert [*found.words()] == ["1,234 rows do not fit `note.text` any more"]


def test_counting_is_cut_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    fill(path, source("{type: string}"), *["too long"] * 1_000)
    found = looked_at(path, source("{type: string, maxLength: 3}"), seconds=0)
    assert isinstance(found, Counted)
    assert [*found.words()] == [
        "counting was cut after 0 seconds: it has looked at 0 rows of `note`, and there are more"
    ]


TIGHTENED = "{type: string, maxLength: 5}"


def files(tmp_path: Path, *values: Any) -> tuple[Path, Path]:
    """A contract that was tightened, and the database of the one before it."""
    contract, path = tmp_path / "notes.yaml", tmp_path / "notes.db"
    fill(path, source("{type: string}"), *values)
    contract.write_text(source(TIGHTENED), encoding="utf-8")
    return contract, path


def ninefold(*words: object) -> tuple[int, str]:
    ended = subprocess.run([sys.executable, "-m", "ninefold", *map(str, words)], capture_output=True, text=True)
    return ended.returncode, ended.stdout + ended.stderr


def judged(path: Path, contract: str, seconds: float = 60) -> Opened | Refused:
    tightened = plan(contract)
    opening = open_sqlite(str(path), tightened.schema, judge=Audit(tightened.stored, seconds))
    if isinstance(opening, Opened):
        opening.database.close()
    return opening


def test_a_service_is_not_started_over_rows_that_do_not_fit(tmp_path: Path) -> None:
    contract, path = files(tmp_path, "short", "much too long", "long as well")
    before = path.read_bytes()
    for _ in range(2):
        status, said = ninefold(
            "serve", contract, "--database", path, "--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"
        )
        assert (status, "2 rows do not fit `note.text` any more (primary keys n2, n3)" in said) == (2, True), said
        assert "ninefold upgrade" in said and "much" not in said
    assert path.read_bytes() == before
    status, said = ninefold("upgrade", contract, "--database", path, "--apply")
    assert status == 1 and "{leave: note.text}" in said and "{set: note.text, is: …" in said
    assert not list(tmp_path.glob("*.before-*"))


def test_rows_that_are_left_are_served_told_each_time_and_counted(tmp_path: Path) -> None:
    contract, path = files(tmp_path, "short", "much too long", "long as well")
    (tmp_path / "notes.upgrade.yaml").write_text("changes: [{leave: note.text}]", encoding="utf-8")
    assert ninefold("upgrade", contract, "--database", path)[0] == 0
    assert isinstance(judged(path, source(TIGHTENED)), Refused), "that was a preview"
    assert ninefold("upgrade", contract, "--database", path, "--apply")[0] == 0
    command = [sys.executable, "-m", "ninefold", "serve", str(contract), "--database", str(path)]
    command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                lines = []
                for line in process.stdout:
                    lines.append(line.strip())
                    if line.startswith("operator"):
                        break
                said = "\n".join(lines)
                assert "2 rows do not fit `note.text` any more (primary keys n2, n3)" in lines
                assert "long" not in said
                urls = re.findall(r"http://[^/\s]+", said)
                metrics = httpx.get(f"{urls[-1]}/metrics").text
                assert 'ninefold_rows_that_do_not_fit{field="note.text"} 2.0' in metrics
                assert "ninefold_rows_not_all_counted 0.0" in metrics
                # It serves them as they are.
                assert httpx.get(f"{urls[-2]}/notes/n2").json() == {"id": "n2", "text": "much too long"}
            finally:
                process.kill()
    # What is tightened once more has to be decided once more.
    assert isinstance(judged(path, source("{type: string, maxLength: 4}")), Refused)


def test_rows_are_changed_by_what_is_decided(tmp_path: Path) -> None:
    contract, path = files(tmp_path, "short", "much too long")
    decisions = "changes: [{set: note.text, is: \"'cut'\", where: old.text.size() > 5}]"
    (tmp_path / "notes.upgrade.yaml").write_text(decisions, encoding="utf-8")
    assert ninefold("upgrade", contract, "--database", path, "--apply")[0] == 0
    assert isinstance(judged(path, source(TIGHTENED)), Opened)
    connection = apsw.Connection(str(path))
    assert [text for (text,) in connection.execute("SELECT text FROM note ORDER BY id")] == ["short", "cut"]


def test_rows_that_are_known_to_fit_are_not_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    fill(path, source("{type: string}"), "short")
    assert isinstance(judged(path, source(TIGHTENED)), Opened)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE note SET text = 'much too long', \"$revision\" = 's'")
    connection.close()
    # No service has written that: it says that nobody looks, no more.
    assert isinstance(judged(path, source(TIGHTENED)), Opened)
    assert isinstance(judged(path, source("{type: string, maxLength: 6}")), Refused)
    assert isinstance(judged(path, source("{type: string}")), Opened)
    assert isinstance(judged(path, source(TIGHTENED)), Refused)


def test_what_could_not_be_looked_at_in_time_is_not_served(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    fill(path, source("{type: string}"), *["short"] * 1_000)
    found = judged(path, source(TIGHTENED), seconds=0)
    assert isinstance(found, Refused) and "counting was cut" in found.details[0]
    done = upgrade.upgrade(str(path), plan(source(TIGHTENED)).schema, judge=Audit(plan(source(TIGHTENED)).stored, inf))
    assert done.goes
    assert isinstance(judged(path, source(TIGHTENED), seconds=0), Opened)


def test_the_time_is_that_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "upgrading.md").read_text(encoding="utf-8")
    assert f"after {audit.SECONDS:g} seconds" in page
