"""Who calls with a credential of his own is answered as others are that say the same, however many they are.

More clients come than heads are kept, so that credentials are each request's own (`ninefold.runtime.http.known`): each
recorded request comes with its own credential, with those of all others, with none, and with what is none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.contracts import contract_of, operator_of
from tests.server.test_likewise import COMPLETE, ORDERS, OWN, asked_both_ways, rehearsed
from tests.slices import LONG

from ninefold.diff.rehearsal import Told
from ninefold.runtime.http import known
from ninefold.runtime.messages import notes
from ninefold.runtime.request import authenticate

CREDENTIALS = ("authorization", "x-staff")
BAD = ("Bearer x", "Bearer")
PEOPLE = ("ann", "bob")
NAMES = ["orders", "notes", "appointments-that-move-through-states"]
NAMES += [each.name for each in COMPLETE if each.name not in NAMES] if LONG else []


@pytest.fixture(autouse=True)
def many_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were more of them than heads are kept."""
    monkeypatch.setattr(known, "KNOWN_HEADS", 1)
    monkeypatch.setattr(known, "DIFFERENT", 2)


@pytest.mark.long
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_whoever_calls_is_answered_as_by_the_steps(name: str, waits: bool) -> None:
    _asked_by_all(name, waits)


def test_most_good_reads_of_the_example_are_answered_likewise() -> None:
    good, settled, handed = _asked_by_all("orders")
    assert good and settled > good * 0.8
    assert handed


def test_nor_do_most_take_the_steps_that_wait_for_their_rows() -> None:
    good, settled, handed = _asked_by_all("notes", waits=True)
    assert good and not settled
    assert handed > good * 0.8


CONTRACT = """# Notes

## Purpose
Keeps what people write.

## Resources
```yaml
person:
  fields:
    id:   {type: integer, on create: serial()}
    name: {type: string}
    key:  {type: string, secret: token, on create: token()}
  primary key: id
  required: [name]
note:
  fields:
    id:   {type: integer, on create: serial()}
    by:   {references: person, on create: caller.person, on delete: restrict}
    text: {type: string}
  primary key: id
  required: [text]
```

## States
States: none.

## Endpoints
```yaml
requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /people: {does: create person, body: [name], responses: {201: {key: issued.key}}}
POST /notes: {does: create note, body: [text], responses: {201: note}}
GET /notes: {does: list note, sort: [id], responses: {200: page.items}}
GET /notes/{id}: {does: read note, responses: {200: note}}
GET /me: {does: compute, responses: {200: "caller.person.name + ' ' + caller.as"}}
```

## Authentication
```yaml
schemes:
  staff: {type: apiKey, in: header, name: X-Staff, matches: person.key, caller: {as: "'staff'"}}
  key:   {type: http, scheme: bearer, matches: person.key, caller: {as: "'self'"}}
permissions: {POST /people: anyone, all others: [staff, key]}
rows: {person: {staff: true, key: true}, note: {staff: true, key: "note.by == caller.person"}}
unseen rows: not found
```

## Events
Events: none.

## Errors
Errors: none.

## Limits
```yaml
rates: none
timeout: none
body size: 1 MiB
pages: {default: 10, maximum: 100, by: cursor, size: limit, at: cursor}
```

## Versioning
Versions: none.
"""


def _requests() -> str:
    """Two people, whose keys are good for both schemes: each writes notes, and asks for what both have written."""
    made = [
        _exchange("POST /people", "", f'{{"name": "{name}"}}', 201, f'{{"key": "{{{{{name}}}}}"}}') for name in PEOPLE
    ]
    callers = [(scheme, name) for scheme in ("X-Staff: ", "Authorization: Bearer ") for name in PEOPLE]
    made += [_exchange("POST /notes", f"{scheme}{{{{{name}}}}}\n", '{"text": "x"}', 201) for scheme, name in callers]
    for scheme, name in callers:
        for number, other in enumerate(PEOPLE):
            sees = scheme == "X-Staff: " or other == name
            made.append(_exchange(f"GET /notes/{number + 1}", f"{scheme}{{{{{name}}}}}\n", "", 200 if sees else 404))
        made += [_exchange(f"GET {path}", f"{scheme}{{{{{name}}}}}\n", "", 200) for path in ("/notes", "/me")]
    return "\n".join(made)


def _exchange(line: str, head: str, body: str, status: int, answer: str = "") -> str:
    sent = f"{head}Content-Type: application/json\n\n{body}\n" if body else head
    return f"{line}\n{sent}\nHTTP {status}\n" + (f"\n{answer}\n" if answer else "")


def _asked_by_all(name: str, waits: bool = False) -> tuple[int, int, int]:
    directory = next((each for each in COMPLETE if each.name == name), None)
    if name == "notes":
        with TemporaryDirectory() as folder:
            contract, file = Path(folder, "notes.md"), Path(folder, "notes.http")
            contract.write_text(CONTRACT, encoding="utf-8")
            file.write_text(_requests(), encoding="utf-8")
            return _asked(contract, [file], {}, waits)
    if directory is None:
        return _asked(ORDERS, [ORDERS.with_suffix(".http")], {}, waits)
    return _asked(contract_of(directory), sorted((directory / "http").glob("*.http")), operator_of(directory), waits)


def _asked(contract: Path, files: list[Path], given: Mapping[str, str], waits: bool) -> tuple[int, int, int]:
    """Each request as it was recorded, then with the credentials of others, with several, and with none."""
    recorded = rehearsed(contract, tuple(files), tuple(given.items())).asked
    values = {
        name: list(dict.fromkeys(each.told.headers[name] for each in recorded if name in each.told.headers))[:3]
        for name in CREDENTIALS
    }
    among = [[None, *found, *(BAD if found else ())] for found in values.values()]

    def heads(told: Told) -> list[Told]:
        others = {name: value for name, value in told.headers.items() if name not in CREDENTIALS}
        came = [told.headers, *(_with(others, dict(zip(values, each, strict=True))) for each in product(*among))]
        return [dataclasses.replace(told, headers={**each, OWN: ""}) for each in (*came, told.headers)]

    return asked_both_ways(contract, files, given, waits, heads)


def _with(fields: Mapping[str, str], more: Mapping[str, str | None]) -> dict[str, str]:
    return {**fields, **{name: value for name, value in more.items() if value is not None}}


def _of_the_first() -> Callable[..., Any]:
    found: list[Any] = []
    of: Any = authenticate._recalled

    def recalled(*told: Any) -> Any:
        found.append(of(*told))
        return found[0]

    return recalled


@pytest.mark.parametrize(
    ("name", "where", "what", "instead"),
    [
        ("orders", authenticate, "_recalled", _of_the_first()),
        ("notes", authenticate, "_recalled", _of_the_first()),
        ("notes", notes.Looked, "looked_up", lambda self: tuple(sorted(self.names))),
    ],
)
def test_who_is_taken_for_another_is_found(name: str, where: Any, what: str, instead: Callable[..., Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, what, instead)
        with pytest.raises(AssertionError):
            _asked_by_all(name)
