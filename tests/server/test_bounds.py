"""What one request may make the service do and say: bounds that hold whatever comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.events.service import Running, running

from ninefold.language.limits import BODY_SIZE
from ninefold.language.meanings import meaning_named
from ninefold.language.table import key_at

pytestmark = pytest.mark.serves

CONTRACT = """# Documents

## 1. What the service does

Keeps documents.

## 2. Resources and their fields

```yaml
types:
  given: {type: object, properties: {n: {type: array, items: {type: integer}}, t: {type: string}}, required: []}
document:
  primary key: id
  fields:
    id:    {type: string, pattern: '^[a-z]+$'}
    texts: {type: array, items: {type: string}}
    few:   {type: array, items: {type: string}, maxItems: 10}
    free:  {type: object}
    rows:  {type: array, items: {type: object, properties: {kind: {enum: [a, b]}}, required: [kind]}}
  required: [id]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
PUT /documents/{document.id}:
  does: put document
  body: [texts, few, free, rows]
  responses: {created: {201: document}, unchanged: {200: document}}
PATCH /documents/{document.id}:
  does: update document
  patch: merge
  body: [texts, free, rows]
  responses: {200: {id: document.id}}
PATCH /edits/{document.id}:
  does: update document
  patch: json-patch
  body: [texts, free, rows]
  responses: {200: document}
POST /sums:
  does: compute
  body: {$ref: "#/types/given"}
  responses:
    200:
      all:   "request.body.n.all(a, a >= 0)"
      pairs: "request.body.n.all(a, request.body.n.all(b, a + b >= 0)) || request.body.n.size() == 0"
      grown: "request.body.n.map(a, request.body.n + request.body.n).size()"
      flat:  "request.body.n.flatMap(a, request.body.n).size()"
      found: "request.body.n.all(a, request.body.t.contains(string(a)))"
      within: "request.body.n.all(a, (a + 1) in request.body.n)"
GET /documents/{document.id}: {does: read document, responses: {200: document}}
GET /documents:
  does: list document
  sort: [id]
  pages: {default: 10, maximum: 100, by: offset, size: limit, at: offset, first: 0}
  responses: {200: page.items}
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
error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
codes:
  not_found:  {status: 404, for: [not found, no such path]}
  no_method:  {status: 405, for: method not allowed}
  unreadable: {status: 400, for: [malformed, unsupported media type, not acceptable]}
  too_large:  {status: 413, for: too large}
  invalid:    {status: 422, for: invalid}
  different:  {status: 409, for: [different, conflict]}
  busy:       {status: 503, for: unavailable}
  broken:     {status: 500, for: internal}
```

## 8. Limits

```yaml
rates: none
timeout: none
body size: none
```

## 9. Versioning

Versions: none.
"""

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("bounds") / "documents.db", CONTRACT) as found:
        yield found


def put(service: Running, document: Any, name: str = "a") -> tuple[int, Any]:
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    answer = service.http.put(f"/documents/{name}", content=content, headers={"content-type": "application/json"})
    return answer.status_code, answer.json() if answer.content else None


def patch(service: Running, path: str, document: Any) -> tuple[int, Any]:
    answer = service.http.patch(path, json=document)
    return answer.status_code, answer.json() if answer.content else None


LARGE: dict[str, bytes] = {
    "items of another type": b'{"texts":[' + b",".join([b"1"] * (MIB // 2 - 20)) + b"]}",
    "unknown members": b"{" + b",".join(b'"%d":1' % number for number in range(90_000)) + b"}",
    "missing members": b'{"rows":[' + b",".join([b"{}"] * (MIB // 3 - 20)) + b"]}",
    "one long name": b'{"' + b"\\u0001" * (MIB // 6 - 20) + b'":1}',
    "many long names": b"{" + b",".join(b'"%d%s":1' % (number, b"a" * 5000) for number in range(200)) + b"}",
    "long names inside": b'{"rows":[{"%s":1}%s]}' % (b"a" * 1000, b",{}" * 300_000),
}


@pytest.mark.parametrize("body", LARGE.values(), ids=LARGE)
def test_however_much_is_wrong_a_hundred_failures_are_told_and_that_there_are_more(
    service: Running, body: bytes
) -> None:
    status, answer = put(service, body)
    assert status == 422
    assert len(answer["fields"]) == 1 or (len(answer["fields"]) == 101 and answer["fields"][100]["rule"] == "more")
    assert len(json.dumps(answer)) < 200_000
    assert service.http.get("/documents/a").status_code == 404


def test_a_hundred_failures_are_told_without_more(service: Running) -> None:
    _, answer = put(service, {"texts": [1] * 100})
    assert [each["pointer"] for each in answer["fields"]] == [f"/texts/{index}" for index in range(100)]
    _, answer = put(service, {"texts": [1] * 101})
    assert answer["fields"][100:] == [{"place": "body", "pointer": "", "name": "body", "rule": "more"}]


def test_what_is_wrong_behind_the_first_hundred_is_wrong_all_the_same(service: Running) -> None:
    """Also where the first hundred are of another field: nothing of it is taken for valid."""
    status, _ = put(service, {"texts": [1] * 200, "rows": [{}]})
    assert status == 422


def test_what_is_too_long_is_told_to_be_so_alone(service: Running) -> None:
    _, answer = put(service, {"few": [1] * 1000})
    assert [(each["pointer"], each["rule"]) for each in answer["fields"]] == [("/few", "maxItems")]


def test_unknown_parameters_are_told_up_to_a_hundred(service: Running) -> None:
    answer = service.http.get("/documents?" + "&".join(f"p{number}" for number in range(5000)))
    assert answer.status_code == 422
    assert [each["rule"] for each in answer.json()["fields"]] == ["unknown"] * 100 + ["more"]


def test_a_body_has_a_mebibyte_where_no_size_is_stated(service: Running) -> None:
    def of(size: int) -> bytes:
        return b'{"texts":["' + b"a" * (size - 14) + b'"]}'

    assert len(of(MIB)) == MIB
    assert put(service, of(MIB), "large")[0] == 201
    assert put(service, of(MIB + 1), "larger")[0] == 413
    told = (key_at(8, "body size").absence, BODY_SIZE.left_out, meaning_named("sizes of bodies").text)
    assert all("1 MiB" in each for each in told), "what is said of a size that is not stated is so"


def test_merging_again_and_again_makes_nothing_that_no_body_may_be(service: Running) -> None:
    assert put(service, {"free": {}}, "merged")[0] == 201
    statuses = [patch(service, "/documents/merged", {"free": {f"n{n}": "a" * 400_000}})[0] for n in range(4)]
    assert statuses == [200, 200, 413, 413]
    assert patch(service, "/documents/merged", {"free": {"n0": None, "n5": 1}})[0] == 200


def test_a_patch_makes_nothing_that_no_body_may_be(service: Running) -> None:
    assert put(service, {"free": {"a": {}}, "texts": ["a" * 300_000]}, "edited")[0] == 201
    deeper = [{"op": "add", "path": "/free/a" + "/a" * level, "value": {}} for level in range(1, 500)]
    assert patch(service, "/edits/edited", deeper)[0] == 413
    copies = [{"op": "copy", "from": "/texts/0", "path": "/texts/-"}] * 5
    assert patch(service, "/edits/edited", copies)[0] == 413
    assert patch(service, "/edits/edited", copies[:2])[0] == 200
    assert patch(service, "/edits/edited", copies[:1])[0] == 413
    grown = [{"op": "add", "path": "/free/b", "value": "b" * 200_000}]
    assert patch(service, "/edits/edited", grown)[0] == 413
    assert patch(service, "/edits/edited", [{"op": "remove", "path": "/texts/2"}, *grown])[0] == 200


def test_a_patch_that_moves_a_level_down_again_and_again_ends(service: Running) -> None:
    assert put(service, {"free": {"a": {}}}, "moved")[0] == 201
    moves = []
    for _ in range(300):
        moves += [
            {"op": "add", "path": "/free/b", "value": {}},
            {"op": "move", "from": "/free/a", "path": "/free/b/a"},
            {"op": "move", "from": "/free/b", "path": "/free/a"},
        ]
    assert patch(service, "/edits/moved", moves[:300])[0] == 200
    assert patch(service, "/edits/moved", moves)[0] == 413
    assert service.http.get("/documents/moved").status_code == 200


# ── Expressions ───────────────────────────────────────────────────────────────────────────────────────────────────


def sums(service: Running, **given: Any) -> tuple[int, Any]:
    answer = service.http.post("/sums", json=given)
    return answer.status_code, answer.json()


def test_expressions_over_what_is_given_are_evaluated_up_to_a_number_of_items(service: Running) -> None:
    status, answer = sums(service, n=[1] * 50, t="1")
    assert (status, answer["grown"], answer["flat"], answer["pairs"]) == (200, 50, 2_500, True)
    for given in ({"n": [1] * 300}, {"n": [1] * 50_000}, {"n": [1] * 100, "t": "1" * 20_000}):
        status, answer = sums(service, **given)
        assert (status, answer) == (413, {"code": "too_large", "fields": []})
    assert sums(service, n=[1], t="1" * 500_000)[0] == 200
