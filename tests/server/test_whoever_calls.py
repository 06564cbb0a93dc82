"""Who calls with a credential of his own is answered as others are that say the same, however many they are.

More clients come than heads are kept, so that credentials are each request's own (`ninefold.runtime.http.known`): each
recorded request comes with its own credential, with those of others of all kinds, with none, and with what is none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.contracts import contract_of, operator_of, plan_of
from tests.http_cases import serving
from tests.server.test_likewise import COMPLETE, ORDERS, OWN, asked_both_ways, goes_on, rehearsed
from tests.slices import LONG

from ninefold.diff.rehearsal import Told
from ninefold.runtime.http import known
from ninefold.runtime.messages.message import Request
from ninefold.runtime.request import callers, likewise, precedents
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.precedents import Precedents
from ninefold.runtime.request.schemes import NOBODY

CREDENTIALS = ("authorization", "x-staff", "cookie")
PEOPLE = ("ann", "bob")
NAMES = ["orders", "notes", "kinds", "appointments-that-move-through-states", "a-session-in-a-cookie"]
NAMES += [each.name for each in COMPLETE if each.name not in NAMES] if LONG else []
MOST = 10 if LONG else 4
"""Ways to call with credentials of others, for each recorded request."""


@pytest.fixture(autouse=True)
def many_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were more of them than heads are kept."""
    monkeypatch.setattr(known, "KNOWN_HEADS", 1)
    monkeypatch.setattr(known, "DIFFERENT", 2)


@pytest.mark.long
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_whoever_calls_is_answered_as_by_the_steps(name: str, waits: bool) -> None:
    """And most good reads of some are answered likewise, whatever kind of caller has a credential in the same field; or
    without the steps that wait for their rows."""
    good, settled, handed = _asked_by_all(name, waits)
    if (name, waits) in (("orders", False), ("kinds", False)):
        assert good and settled > good * 0.8
        assert handed
    if (name, waits) == ("notes", True):
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


KINDS = """# Kinds

## Purpose
Keeps what people, robots and the staff of somebody else write.

## Resources
```yaml
person:
  fields:
    id:   {type: integer, on create: serial()}
    name: {type: string}
    key:  {type: string, secret: token, on create: token()}
  primary key: id
  required: [name]
robot:
  fields:
    id:   {type: integer, on create: serial()}
    name: {type: string}
    key:  {type: string, secret: token}
  primary key: id
  required: [name, key]
note:
  fields:
    id:   {type: integer, on create: serial()}
    by:   {type: string, on create: caller.name}
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
DELETE /people/{id}: {does: delete person, responses: {204: none}}
POST /robots: {does: create robot, body: [name, key], responses: {201: {id: robot.id}}}
POST /notes: {does: create note, body: [text], responses: {201: note}}
GET /notes: {does: list note, sort: [id], responses: {200: page.items}}
GET /notes/{id}: {does: read note, responses: {200: note}}
GET /me: {does: compute, responses: {200: "caller.name"}}
GET /hello: {does: compute, responses: {200: "'hello'"}}
```

## Authentication
```yaml
schemes:
  robot:  {type: http, scheme: bearer, matches: robot.key, caller: {name: caller.robot.name}}
  person: {type: http, scheme: bearer, matches: person.key, caller: {name: caller.person.name}}
  staff:  {type: openIdConnect, issuer: operator.issuer, audience: notes, caller: {name: claims.name}}
  tool:   {type: http, scheme: token, matches: robot.key, caller: {name: "'tool of ' + caller.robot.name"}}
  page:   {type: apiKey, in: cookie, name: page, matches: person.key, caller: {name: "'page of ' + caller.person.name"}}
permissions:
  POST /people: anyone
  POST /robots: anyone
  DELETE /people/{id}: staff
  GET /hello: [robot, anyone]
  GET /notes/{id}: [robot, staff, tool]
  GET /me: {person: true, robot: "caller.name != 'rob'", staff: true, tool: true, page: true}
  all others: [person, robot, staff, tool, page]
rows:
  person: {staff: true}
  note:
    {staff: true, person: note.by == caller.name, page: note.by == caller.person.name, robot: note.by != 'ann',
     tool: false}
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
    made = _people()
    callers = [(scheme, name) for scheme in ("X-Staff: ", "Authorization: Bearer ") for name in PEOPLE]
    made += [_exchange("POST /notes", f"{scheme}{{{{{name}}}}}\n", '{"text": "x"}', 201) for scheme, name in callers]
    for scheme, name in callers:
        for number, other in enumerate(PEOPLE):
            sees = scheme == "X-Staff: " or other == name
            made.append(_exchange(f"GET /notes/{number + 1}", f"{scheme}{{{{{name}}}}}\n", "", 200 if sees else 404))
        made += [_exchange(f"GET {path}", f"{scheme}{{{{{name}}}}}\n", "", 200) for path in ("/notes", "/me")]
    return "\n".join(made)


def _requests_of_kinds() -> str:
    """People, robots and staff, most with a credential in the same field. The key of one of the people comes to be a
    robot's; then the other is removed, and tokens of the staff end."""
    bearer = "Authorization: Bearer {{%s}}\n"
    heads = [bearer % each for each in ("ann", "staff name=sue", "bob")]
    heads += ["Authorization: Bearer robot key\n", "Authorization: Token robot key\n", "Cookie: page={{ann}}\n"]
    robot = '{"name": "%s", "key": "%s"}'
    made = [*_people(), _exchange("POST /robots", "", robot % ("rob", "robot key"), 201)]
    made += [_exchange("POST /notes", head, '{"text": "x"}', 201) for head in heads]
    read = [_exchange(f"GET {path}", head, "", 200) for path in ("/notes", "/me") for head in heads]
    read[9] = _exchange("GET /me", heads[3], "", 403)
    read += [_exchange(f"GET /notes/{number}", heads[each], "", 200) for number, each in ((2, 1), (3, 1), (3, 3))]
    read += [_exchange("GET /hello", head, "", 200) for head in ("", heads[3])]
    made += [*read, _exchange("POST /robots", "", robot % ("twin", "{{ann}}"), 201), *read]
    made.append(_exchange("DELETE /people/2", heads[1], "", 204))
    made.append("@after P2D\n" + _exchange("GET /notes", heads[0], "", 200))
    return "\n".join(made)


def _people() -> list[str]:
    return [
        _exchange("POST /people", "", f'{{"name": "{name}"}}', 201, f'{{"key": "{{{{{name}}}}}"}}') for name in PEOPLE
    ]


WRITTEN = {"notes": (CONTRACT, _requests), "kinds": (KINDS, _requests_of_kinds)}


def _exchange(line: str, head: str, body: str, status: int, answer: str = "") -> str:
    sent = f"{head}Content-Type: application/json\n\n{body}\n" if body else head
    return f"{line}\n{sent}\nHTTP {status}\n" + (f"\n{answer}\n" if answer else "")


def _asked_by_all(name: str, waits: bool = False) -> tuple[int, int, int]:
    directory = next((each for each in COMPLETE if each.name == name), None)
    if name in WRITTEN:
        text, requests = WRITTEN[name]
        with TemporaryDirectory() as folder:
            contract, file = Path(folder, "contract.md"), Path(folder, "requests.http")
            contract.write_text(text, encoding="utf-8")
            file.write_text(requests(), encoding="utf-8")
            return _asked(contract, [file], {}, waits)
    if directory is None:
        return _asked(ORDERS, [ORDERS.with_suffix(".http")], {}, waits)
    return _asked(contract_of(directory), sorted((directory / "http").glob("*.http")), operator_of(directory), waits)


def _asked(contract: Path, files: list[Path], given: Mapping[str, str], waits: bool) -> tuple[int, int, int]:
    """Each request as it was recorded, then with the credentials of others, with several, with what differs from one
    in a word or its case, and with none."""
    recorded = rehearsed(contract, tuple(files), tuple(given.items())).asked
    among = [
        [None, *_otherwise([each.told.headers[name] for each in recorded if name in each.told.headers])]
        for name in CREDENTIALS
    ]
    ways, chance = list(product(*among)), Random(contract.name)
    endless = {each.told.path for each in recorded if goes_on(each)}  # for whoever may see it

    def heads(told: Told) -> list[Told]:
        if told.path in endless:
            return [told]
        others = {name: value for name, value in told.headers.items() if name not in CREDENTIALS}
        chosen = chance.sample(ways, min(len(ways), MOST))
        came = [told.headers, *(_with(others, dict(zip(CREDENTIALS, each, strict=True))) for each in chosen)]
        return [dataclasses.replace(told, headers={**each, OWN: ""}) for each in (*came, told.headers)]

    return asked_both_ways(contract, files, given, waits, heads)


def _otherwise(values: list[str]) -> list[str]:
    """Credentials that came, and what looks like them; of a field in which none came, none."""
    found = list(dict.fromkeys(values))[:6]
    if not found:
        return []
    word, _, credential = found[0].partition(" ")
    return [*found, f"{word.swapcase()} {credential}", f"Basic {credential}", credential, f"{word} x", word]


def _with(fields: Mapping[str, str], more: Mapping[str, str | None]) -> dict[str, str]:
    return {**fields, **{name: value for name, value in more.items() if value is not None}}


def _the_first(*told: Any) -> Any:
    """Who calls is who has called first, of whatever kind."""
    found = callers.who_calls(*told)
    if found is None or found[0] is NOBODY:
        return found
    _FOUND.append(found)
    return _FOUND[0]


_FOUND: list[Any] = []


def _in_another_order(*told: Any) -> Any:
    """The schemes are asked from the last to the first."""
    return callers.presented(*told)[::-1]


def _by_the_last(*told: Any) -> Any:
    """Of several schemes that look at a credential only the last is asked."""
    service, endpoint, request, query, came, *others = told
    return callers.who_calls(service, endpoint, request, query, came[-1:], *others)


def _or_nobody(*told: Any) -> Any:
    """A credential that is not good counts as none."""
    return callers.who_calls(*told) or (NOBODY, ())


def _of_all(request: Request, endpoint: Endpoint) -> Precedents | None:
    """All that are alike have the same credentials."""
    found = precedents.find(request, endpoint)
    return None if found is None else precedents.of_one(request, found)


class _OfAnyKind(dict[str, Any]):
    """What is noted of callers of one kind holds for those of another."""

    def get(self, key: str, default: Any = None) -> Any:
        return next(reversed(self.values()))


def _of_another(endpoint: Endpoint, path: bytes | None, names: frozenset[str] | None, by_kind: dict[str, Any]) -> Any:
    return Precedents(endpoint, path, names, _OfAnyKind(by_kind))


@pytest.mark.serves
def test_a_key_that_was_nobodys_is_good_from_when_it_is_somebodys(tmp_path: Path) -> None:
    keys = [{"Authorization": f"Bearer key {each}"} for each in range(3)]
    with serving(plan_of(KINDS), tmp_path / "kinds.db", {}) as http:
        for number, key in enumerate(keys):
            assert [http.get("/notes", headers=each).status_code for each in (*keys, *keys)] == 2 * (
                [200] * number + [401] * (3 - number)
            )
            http.post("/robots", json={"name": "it", "key": key["Authorization"].removeprefix("Bearer ")})


@pytest.mark.parametrize(
    ("name", "where", "what", "instead"),
    [
        ("orders", likewise, "who_calls", _the_first),
        ("notes", likewise, "who_calls", _the_first),
        ("kinds", likewise, "who_calls", _the_first),
        ("kinds", likewise, "who_calls", _by_the_last),
        ("kinds", likewise, "who_calls", _or_nobody),
        ("kinds", likewise, "presented", _in_another_order),
        ("kinds", likewise, "find", _of_all),
        ("kinds", precedents, "Precedents", _of_another),
    ],
)
def test_who_is_taken_for_another_is_found(name: str, where: Any, what: str, instead: Callable[..., Any]) -> None:
    _FOUND.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, what, instead)
        with pytest.raises(AssertionError):
            _asked_by_all(name)
