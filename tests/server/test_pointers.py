"""Pointers of errors point into what the client sent: in every case, whatever is wrong with a body; and of a JSON
Patch, at the edit that put there what is wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts import SERVED, compiled, contract_of, plan_of
from tests.http_cases import _request, serving, tell
from tests.slices import examples, some

from ninefold.diff.requests import Exchange as Asked
from ninefold.diff.requests import Known, Unreadable, read_exchanges
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.patches import CannotBeDone, edited, in_body, origin
from ninefold.runtime.messages.problems import FieldFailure
from ninefold.runtime.request.exchange import NOT_TAKEN, Exchange

WRONG: tuple[Any, ...] = (None, 7, -0.5, "", "x", "\0", True, [], [None], {}, {"x": {"y": [1]}}, 10**20, "é" * 5000)
MOST = 10
"""Bodies of one request that are tried."""


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def mutants(body: Any) -> Iterator[Any]:
    """The body with one of its values taken away, in another place, or another one."""
    for path in places(body):
        for wrong in (*WRONG, "an unknown member", "no member"):
            changed = {"": deepcopy(body)}
            around, last = at(changed, ("", *path)[:-1]), ("", *path)[-1]
            if wrong == "no member":
                del around[last]
            elif wrong != "an unknown member":
                around[last] = wrong
            elif isinstance(around[last], dict):
                around[last] |= {"a/b~c": 1, "\ud800": 2}
            else:
                continue
            if changed:
                yield changed[""]


def patches(body: list[Any]) -> Iterator[Any]:
    """Patches that begin with this one."""
    yield from mutants(body)
    for edit in body:
        if not isinstance(edit, dict) or "path" not in edit:
            continue
        path = edit["path"]
        yield [*body, {"op": "remove", "path": path}]
        yield [*body, {"op": "copy", "from": "", "path": path}]
        for wrong in WRONG:
            yield [*body, {"op": "replace", "path": path, "value": wrong}]
            yield [{"op": "test", "path": "", "value": 0}, {"op": "add", "path": path + "/0", "value": wrong}]
            yield [
                {"op": "add", "path": path + "/-", "value": wrong},
                {"op": "add", "path": path + "/0", "value": wrong},
            ]
            yield [{"op": "add", "path": f"{path}/name", "value": wrong}, {"op": "add", "path": "/more", "value": 1}]


def sent_wrongly(asked: Asked) -> Iterator[str | bytes]:
    headers = {name.lower(): value for name, value in asked.headers}
    if "urlencoded" in headers.get("content-type", ""):
        pairs = parse_qsl(asked.content, keep_blank_values=True)
        for number, (name, _) in enumerate(pairs):
            for wrong in ("", "x", "-7", "%00", "1&" + name + "=2"):
                yield "&".join(f"{n}={wrong if m == number else v}" for m, (n, v) in enumerate(pairs))
            yield "&".join(f"{n}={v}" for m, (n, v) in enumerate(pairs) if m != number)
        return
    try:
        body = json.loads(asked.content)
    except ValueError:
        return
    for mutant in patches(body) if isinstance(body, list) else mutants(body):
        yield json.dumps(mutant)


def is_there(body: Any, field: FieldFailure) -> bool:
    """RFC 6901, 4; of a member that is missing, what it is missing from."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in field.pointer.split("/")]
    assert steps[0] == ""
    for left, step in zip(range(len(steps) - 1, 0, -1), steps[1:], strict=True):
        if isinstance(body, dict) and step in body:
            body = body[step]
        elif isinstance(body, list) and step.isdecimal() and int(step) < len(body):
            body = body[int(step)]
        else:
            return left == 1 and field.rule == "required" and isinstance(body, dict)
    return True


@pytest.mark.serves
@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 8), ids=lambda directory: directory.name)
def test_a_pointer_points_into_what_was_sent(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = compiled(contract_of(directory)).plan
    assert plan is not None
    given = directory / "operator.json"
    operator = json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}
    told: set[tuple[bytes, bool, FieldFailure]] = set()
    answer = Exchange.answer

    def watched(self: Exchange) -> Response:
        response = answer(self)
        content = NOT_TAKEN if self.asked is None else self.asked.content
        for failure in self.failures:
            for field in failure.fields:
                if field.place == "body" and content.raw:
                    told.add((content.raw, content.form, in_body(field, content.document, content.edits)))
        return response

    monkeypatch.setattr(Exchange, "answer", watched)
    chance = random.Random(directory.name)
    with serving(plan, tmp_path / "service.db", operator) as client:
        known: Known = {}
        for path in sorted((directory / "http").glob("*.http")):
            for asked in read_exchanges(path.read_text(encoding="utf-8")):
                with suppress(AssertionError, Unreadable):
                    tell(client, asked, known)
                bodies = list(sent_wrongly(asked))
                for body in chance.sample(bodies, min(MOST, len(bodies))):
                    with suppress(Unreadable):
                        send(client, asked, body, known)
    for content, form, field in told:
        sent = dict.fromkeys((name for name, _ in parse_qsl(content.decode(), keep_blank_values=True)), [0] * 99)
        assert is_there(sent if form else json.loads(content), field), (content[:2000], field)


def send(client: httpx.Client, asked: Asked, body: str | bytes, known: Known) -> None:
    request = _request(client, asked, known)
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    client.request(request.method, request.url, headers=headers, content=body)


# ── Who is blamed, and where ──────────────────────────────────────────────────────────────────────────────────

SEATS = """\
resources:
  seat:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      hall: {type: string}
      row: {type: integer}
      name: {type: [string, "null"], maxLength: 3}
      tags: {type: array, items: {type: string, maxLength: 3}, maxItems: 3}
    required: [hall, row]
    unique: [[row, hall]]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /seats: {does: create seat, body: [hall, row, name, tags], responses: {201: seat}}
  PATCH /seats/{seat.id}: {does: update seat, patch: merge, body: [hall, row, name], responses: {200: seat}}
  PATCH /edits/{seat.id}: {does: update seat, patch: json-patch, body: [hall, row, name, tags], responses: {200: seat}}
  PUT /wrapped/{seat.id}:
    does: put seat
    body: {data: {name: seat.name, where: {hall: seat.hall, row: seat.row}}}
    responses: {replaced: {200: seat}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {fields: "error.fields.map(f, [f.pointer, f.name, f.rule])"}}
  codes:
    invalid: {status: 422, for: invalid}
    taken: {status: 409, for: conflict}
limits: {rates: none, body size: 64 KiB, timeout: none}
versioning: none
"""


def replaced(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


@pytest.mark.serves
def test_the_one_that_is_told_of_is_the_first_that_came(tmp_path: Path) -> None:
    plan = plan_of(SEATS, "seats.yaml")
    with serving(plan, tmp_path / "service.db", {}) as client:
        for row, hall in ((1, "a"), (2, "a"), (1, "b")):
            client.post("/seats", json={"row": row, "hall": hall, "tags": ["x"]}).raise_for_status()

        def told(method: str, path: str, body: Any) -> Any:
            media_type = "application/json-patch+json" if path.startswith("/edits") else "application/json"
            sent = client.request(method, path, content=json.dumps(body), headers={"content-type": media_type})
            return sent.json()["fields"]

        assert told("POST", "/seats", {"hall": "a", "row": 1}) == [["/row", "row", "unique"]]
        assert told("PATCH", "/seats/2", {"row": 1}) == [["/row", "row", "unique"]]
        assert told("PATCH", "/seats/3", {"hall": "a"}) == [["/hall", "hall", "unique"]]
        assert told("PATCH", "/seats/3", {"hall": "a", "row": 1}) == [["/row", "row", "unique"]]
        wrapped = {"data": {"name": None, "where": {"row": 1, "hall": "a"}}}
        assert told("PUT", "/wrapped/2", wrapped) == [["/data/where/row", "row", "unique"]]
        assert told("PUT", "/wrapped/2", {"data": {}}) == [["/data/where", "where", "required"]]
        assert told("PATCH", "/edits/3", [replaced("/hall", "a")]) == [["/0/value", "hall", "unique"]]
        assert told("PATCH", "/edits/3", [{"op": "remove", "path": "/hall"}]) == [["/0/path", "hall", "required"]]
        two = [replaced("/name", "abcd"), {"op": "add", "path": "/tags/0", "value": "long"}]
        assert told("PATCH", "/edits/3", [*two, {"op": "add", "path": "/tags/0", "value": "y"}]) == [
            ["/0/value", "name", "maxLength"],
            ["/1/value", "tags", "maxLength"],
        ]
        many = [{"op": "add", "path": "/tags/-", "value": "z"} for _ in range(3)]
        assert told("PATCH", "/edits/3", many) == [["/2/path", "tags", "maxItems"]]
        moved = [{"op": "move", "from": "/hall", "path": "/name"}]
        assert told("PATCH", "/edits/1", moved) == [["/0/from", "hall", "required"]]
        assert told("PATCH", "/edits/1", [{"op": "add", "path": "", "value": {"hall": 1, "row": 1}}]) == [
            ["/0/value/hall", "hall", "type"]
        ]


# ── JSON Patch ────────────────────────────────────────────────────────────────────────────────────────────────

names = st.sampled_from(("a", "b", "0", "1", "-", "2"))
pointers = st.lists(names, max_size=3).map(lambda names: "".join("/" + name for name in names))
shapes = st.recursive(
    st.just(0), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
edits = st.one_of(
    st.fixed_dictionaries({"op": st.sampled_from(("add", "replace")), "path": pointers, "value": shapes}),
    st.fixed_dictionaries({"op": st.sampled_from(("move", "copy")), "path": pointers, "from": pointers}),
    st.fixed_dictionaries({"op": st.just("remove"), "path": pointers}),
)


def numbered(value: Any, numbers: Iterator[int]) -> Any:
    """The same, in which no two leaves are the same."""
    if isinstance(value, dict):
        return {name: numbered(each, numbers) for name, each in value.items()}
    return [numbered(each, numbers) for each in value] if isinstance(value, list) else next(numbers)


@settings(max_examples=examples(400))
@given(shapes, st.lists(edits, max_size=6))
def test_what_a_patch_gives_is_found_in_it(document: Any, patch: list[dict[str, Any]]) -> None:
    numbers = iter(range(10_000))
    before = numbered(document, numbers)
    patch = [each | ({"value": numbered(each["value"], numbers)} if "value" in each else {}) for each in patch]
    done: list[dict[str, Any]] = []
    for each in patch:
        with suppress(CannotBeDone):
            edited(before, [*done, each], 10_000)
            done.append(each)
    after, log = edited(before, done, 10_000)
    ways = [way for way in places(after) if not isinstance(at(after, way), dict | list)]
    for way in ways:
        found = origin(log, [str(step) for step in way])
        if found is None:
            assert at(after, way) in [at(before, each) for each in places(before)]
        elif found[1] == "value":
            value = done[int(found[0])]["value"]
            for step in found[2:]:
                value = value[int(step)] if isinstance(value, list) else value[step]
            assert value == at(after, way)
        else:  # moved or copied there, or around it
            assert done[int(found[0])]["op"] in ("move", "copy") and found[1:] == ("path",)
