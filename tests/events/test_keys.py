"""Rows that events go to are known by keys of every type, the same over both databases and after moves between them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from tests.events.receiver import Answer, Came, receiving
from tests.events.service import running
from tests.events.test_rows import CONTRACT_OF_ROWS
from tests.postgresql import server
from tests.slices import some
from tests.waiting import until

from ninefold.cli import main

pytestmark = pytest.mark.serves

VALUES: Final[dict[str, tuple[str, list[Any]]]] = {
    "text": ("{type: string, maxLength: 40}", ["~", 'a "b" \\ /é\u2028', "1.0", "true", "[1]"]),
    "integer": ("{type: integer}", [0, -7, 2**63 - 1]),
    "number": ("{type: number}", [0.1 + 0.2, 1 / 3, 3.0, -2.5, 1e300, 5e-324, 2.0**60]),
    "boolean": ("{type: boolean}", [True, False]),
    "time": ("{type: string, format: date-time}", ["2026-02-03T04:05:06.000007Z", "0001-01-01T00:00:00.000000Z"]),
}
"""Of each type, how a field says it, and values of which one or the other database has a text of its own."""

KEYS: Final = [
    ("text",),
    ("boolean", "number", "integer", "time", "text"),
    ("integer",),
    ("boolean",),
    ("time",),
    ("number",),
    ("number", "text"),
]


def contract_of(key: tuple[str, ...]) -> str:
    fields = "".join(f"    k{number}: {VALUES[name][0]}\n" for number, name in enumerate(key))
    names = [f"k{number}" for number in range(len(key))]
    path = "/".join(f"{{{name}}}" for name in names)
    contract = CONTRACT_OF_ROWS
    for written, instead in (
        ("hook:\n  primary key: id\n", f"hook:\n  primary key: [{', '.join(names)}]\n"),
        ("    id: {type: integer, on create: serial()}\n    owner", f"{fields}    owner"),
        ("POST /hooks: {does: create hook, body: [", f"POST /hooks: {{does: create hook, body: [{', '.join(names)}, "),
        ("PATCH /hooks/{id}", f"PATCH /hooks/{path}"),
        ("POST /hooks/{id}/stop", f"POST /hooks/{path}/stop"),
        ("DELETE /hooks/{id}", f"DELETE /hooks/{path}"),
        ("    secret: hook.key\n", "    secret: hook.key\n    headers: {X-Key: hook.key}\n"),
    ):
        assert written in contract, written
        contract = contract.replace(written, instead, 1)
    if len(key) == 1:
        contract = contract.replace("primary key: [k0]", "primary key: k0", 1)
    versions = """```yaml
in: header
name: Api-Version
default: "2"
versions:
  "2": {}
  "1": {changes: [{rename: note.written, to: note.made}]}
compatible: none
```"""
    return contract[: contract.index("Versions: none.")] + versions + "\n"


def values_of(key: tuple[str, ...]) -> list[list[Any]]:
    """As many keys as the type with the most values has, no two alike."""
    columns = [VALUES[name][1] for name in key]
    return [[each[n % len(each)] for each in columns] for n in range(max(map(len, columns)))]


def path_of(key: list[Any]) -> str:
    said = (each if isinstance(each, str) else json.dumps(each) for each in key)
    return "/hooks/" + "/".join(quote(each, safe="") for each in said)


def heard(came: Came) -> tuple[str, str]:
    """By which row, and of which kind."""
    return came.headers["x-key"], came.json["type"]


@pytest.mark.long
@pytest.mark.parametrize("first", ["sqlite", "postgresql"])
@pytest.mark.parametrize("key", some(KEYS, 4), ids="+".join)
def test_rows_are_known_by_keys_of_every_type_over_sqlite_and_postgresql(
    key: tuple[str, ...], first: str, tmp_path: Path
) -> None:
    contract = contract_of(key)
    document = tmp_path / "contract.md"
    document.write_text(contract)
    places: list[Path | str] = [tmp_path / "first.db", server.database(), tmp_path / "second.db", server.database()]
    places = places[:3] if first == "sqlite" else places[1:]
    ways: dict[str, str] = {}
    with receiving(lambda number: Answer(500 if is_down else 204)) as receiver:
        is_down = True
        with running(places[0], contract) as service:
            ann = service.person("Ann")
            for number, values in enumerate(values_of(key)):
                version = str(number % 2 + 1)
                ways[path_of(values)] = {"1": "note.made", "2": "note.written"}[version]
                given = {f"k{n}": value for n, value in enumerate(values)} | {
                    "url": receiver.url,
                    "key": path_of(values),
                    "kinds": ["note.written", "note.made"],
                }
                made = service.http.post("/hooks", json=given, headers={**ann, "Api-Version": version})
                assert made.status_code == 201, made.text
            service.note(ann, "tea")
            dead = 'SELECT count(*) FROM "$delivery" WHERE dead IS NOT NULL'
            until(lambda: service.rows(dead) == [(len(ways),)], lambda: service.rows('SELECT * FROM "$delivery"'))
        is_down = False
        for before, place, waited in zip(places, places[1:], (1, 0), strict=False):
            assert main(["move", str(document), str(before), str(place)]) == 0
            assert main(["events", str(document), "replay", "--database", str(place)]) == 0
            before_it = Counter(map(heard, receiver.good()))
            with running(place, contract) as service:
                service.note(ann, "milk")
                until(lambda: service.rows('SELECT count(*) FROM "$delivery"') == [(0,)])
                told = Counter(map(heard, receiver.good())) - before_it
                assert told == dict.fromkeys(ways.items(), 1 + waited)
                assert service.rows('SELECT count(*) FROM "$subscription"') == [(len(ways),)]
                gone = next(iter(ways))
                assert service.http.delete(gone, headers=ann).status_code == 204
                del ways[gone]
                assert service.rows('SELECT count(*) FROM "$subscription"') == [(len(ways),)]
