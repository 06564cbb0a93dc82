"""How long one request keeps all others waiting, at every bound that there is.

    python benchmarks/one_request.py [WORDS]        only the requests in whose names all words are

Each request is made to a service in this process, whose event loop counts the CPU that is spent between two of its
turns, by whichever thread. Printed of each are the bytes sent and answered, the status, the longest time that the loop
was held (`held`) and all that the request cost (`CPU`), in milliseconds. The aim is 50 ms held, whatever is sent.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import ninefold

MIB = 1024 * 1024
HEAD = 60 * 1024

CONTRACT = """# Documents

## 1. What the service does

Keeps documents.

## 2. Resources and their fields

```yaml
types:
  numbers:
    type: object
    properties:
      numbers: {type: array, items: {type: integer}}
      square:  {type: array, items: {type: integer}}
      cube:    {type: array, items: {type: integer}}
      texts:   {type: array, items: {type: string}}
      text:    {type: string}
      mixed:   {type: array, items: {type: [integer, string, object, array, boolean, 'null']}}
  whole:
    type: object
    properties: {a: {type: string}, d: {type: string}}
    patternProperties: {'^(a|aa|b|ab)*$': {type: string}}
    propertyNames: {maxLength: 900}
    anyOf: [{required: [a], patternProperties: {'^x': {type: integer}}}, {properties: {c: {type: string}}}]
    unevaluatedProperties: {type: boolean}
document:
  primary key: id
  fields:
    id:      {type: string, pattern: '^[a-z]+$'}
    texts:   {type: array, items: {type: string, pattern: '^[a-z]*$'}}
    few:     {type: array, items: {type: string}, maxItems: 10}
    numbers: {type: array, items: {type: integer}}
    unique:  {type: array, items: {type: object}, uniqueItems: true}
    free:    {type: object}
    rows:
      type: array
      items:
        type: object
        properties:
          kind: {enum: [a, b]}
          more: {type: array, items: {anyOf: [{type: string}, {type: object, properties: {n: {type: integer}}}]}}
        required: [kind]
    note:    {type: string, normalise: value.trim().lowerAscii()}
    slug:    {type: string}
    at:      {type: string, format: date-time}
    checked: {type: boolean}
    ahead:   {type: array, items: {type: string, pattern: '^(?!.*b)(a|aa)*$'}}
    named:   {type: object, patternProperties: {'^(a|aa|b|ab)*$': {type: integer}, '^x': {type: string}}}
    host:    {type: string, format: idn-hostname}
    hosts:   {type: array, items: {type: string, format: idn-hostname}}
    rule:    {type: string, format: regex}
    rules:   {type: array, items: {type: string, format: regex}}
    mail:    {type: string, format: idn-email}
    place:   {type: string, format: iri}
    template: {type: string, format: uri-template}
    prices:  {type: array, items: {type: number, multipleOf: 0.01}}
    among:   {type: array, items: {enum: [a, 1, {a: 1}, [], {b: [1, 2, 3]}]}}
    sets:    {type: array, items: {type: array, items: {type: object}, uniqueItems: true}}
    nested:
      type: object
      anyOf:
        - {patternProperties: {'^x': {type: integer}}, unevaluatedProperties: {type: integer}}
        - required: [other]
      unevaluatedProperties: {type: integer}
    found:   {type: array, items: {type: integer}, contains: {minimum: 1}, minContains: 2, unevaluatedItems: false}
  required: [id]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: %s, unknown parameters: refused}
produces: application/json
PUT /documents/{document.id}:
  does: put document
  body: [texts, few, numbers, unique, free, rows, note, at, ahead, named, host, hosts, rule, rules, mail, place,
         template, prices, among, sets, nested, found]
  responses: {created: {201: {id: document.id}}, unchanged: {200: {id: document.id}}}
PATCH /documents/{document.id}:
  does: update document
  patch: merge
  body: [texts, numbers, free, rows]
  responses: {200: {id: document.id}}
PATCH /edits/{document.id}:
  does: update document
  patch: json-patch
  body: [texts, numbers, free, rows]
  responses: {200: {id: document.id}}
POST /loops:
  does: compute
  body: {$ref: "#/types/numbers"}
  responses:
    200:
      all:    "request.body.numbers.all(n, n >= 0)"
      square: "request.body.square.all(n, request.body.square.exists(m, m == n + 1))"
      cube:   "request.body.cube.all(a, request.body.cube.all(b, request.body.cube.all(c, a + b + c >= 0)))"
      within: "request.body.square.all(n, (n + 1) in request.body.square)"
      texts:  "request.body.texts.all(t, request.body.text.contains(t))"
      grown:  "request.body.numbers.map(n, request.body.numbers + request.body.numbers).size()"
      flat:   "request.body.square.flatMap(n, request.body.square).size()"
      sorted: "request.body.numbers.sortBy(n, -n).size()"
      slug:   "slug(request.body.text)"
      among:  "'b' in request.body.mixed"
      object: "{'a': 1} in request.body.mixed"
POST /whole: {does: compute, body: {$ref: "#/types/whole"}, responses: {200: {members: request.body.size()}}}
GET /documents/{document.id}: {does: read document, responses: {200: document}}
GET /pages:
  does: list document
  sort: [id]
  pages: {default: 10, maximum: 100, by: offset, size: limit, at: offset, first: 0}
  responses: {200: {documents: page.items}}
POST /documents:
  does: create document
  body: [id, texts, free]
  idempotency key: optional
  responses: {201: document}
GET /documents:
  does: list document
  query:
    words: {type: array, items: {type: string, maxLength: 3}, explode: true}
    n:     {type: array, items: {type: integer}, explode: true}
    id:    document.id == value
  sort: [id]
  pages: {default: 10, maximum: 100, by: offset, size: limit, at: offset, first: 0}
  responses: {200: {documents: "page.items.map(d, d.id)"}}
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
error shape: {media type: application/json, body: {code: error.code, fields: error.fields, messages: error.messages}}
messages: {all others: "this is not as it should be"}
codes:
  not_found:  {status: 404, for: [not found, no such path]}
  no_method:  {status: 405, for: method not allowed}
  unreadable: {status: 400, for: [malformed, unsupported media type, not acceptable]}
  too_large:  {status: 413, for: too large}
  invalid:    {status: 422, for: invalid}
  different:  {status: 409, for: [different, conflict, idempotency mismatch, idempotency in progress]}
  busy:       {status: 503, for: unavailable}
  broken:     {status: 500, for: internal}
```

## 8. Limits

```yaml
rates: none
idempotency keys kept: PT1H
timeout: none
body size: none
```

## 9. Versioning

Versions: none.
"""


HELD = ("body", "whole")
"""The kinds of requests that ask for something else where unknown members are ignored."""


@dataclass
class Sent:
    name: str
    method: str
    target: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


def several(before: bytes, item: bytes, after: bytes, size: int) -> bytes:
    """JSON of a size, filled with one item again and again."""
    count = (size - len(before) - len(after) + 1) // (len(item) + 1)
    return before + b",".join([item] * count) + after


def numbered(item: str, size: int) -> list[str]:
    return [item % number for number in range(size // (len(item) + 4))]


def bodies() -> Iterator[tuple[str, bytes]]:
    yield "an array of valid integers", several(b'{"numbers":[', b"1", b"]}", MIB)
    yield "an array of empty texts", several(b'{"texts":[', b'""', b"]}", MIB)
    yield "items of another type", several(b'{"texts":[', b"1", b"]}", MIB)
    yield "one wrong item, the last", several(b'{"texts":[', b'"a"', b",1]}", MIB)
    yield "more items than admitted", several(b'{"few":[', b"1", b"]}", MIB)
    yield "unique objects", b'{"unique":[' + ",".join(numbered('{"a":%d}', MIB - 20)).encode() + b"]}"
    yield "objects that are not unique", several(b'{"unique":[', b"{}", b"]}", MIB)
    yield "unknown members", b"{" + ",".join(numbered('"a%d":1', MIB - 20)).encode() + b"}"
    yield "unknown members inside", several(b'{"rows":[', b'{"kind":"a","x":1}', b"]}", MIB)
    yield "missing members", several(b'{"rows":[', b"{}", b"]}", MIB)
    yield "what none of several schemas admits", several(b'{"rows":[', b'{"kind":"a","more":[1]}', b"]}", MIB)
    yield "a free object with many members", b'{"free":{' + ",".join(numbered('"a%d":1', MIB - 20)).encode() + b"}}"
    yield "arrays in arrays", several(b'{"free":{"a":[', b"[]", b"]}}", MIB)
    yield "arrays a hundred deep", several(b'{"free":{"a":[', b"[" * 100 + b"]" * 100, b"]}}", MIB)
    yield "objects in arrays", several(b'{"free":{"a":[', b"{}", b"]}}", MIB)
    yield "128 levels", b'{"free":' * 1 + b'{"a":' * 126 + several(b"[", b"1", b"]", MIB - 1000) + b"}" * 127
    yield "too many levels", b'{"a":' * 170_000 + b"1" + b"}" * 170_000
    yield "members given twice", several(b"{", b'"a":1', b"}", MIB)
    yield "a number of a million digits", b'{"numbers":[' + b"1" * (MIB - 20) + b"]}"
    yield "many numbers, one beyond a double", several(b'{"numbers":[1e999,', b"1", b"]}", MIB)
    yield "numbers near the bounds of a double", several(b'{"free":{"a":[', b"1e300", b"]}}", MIB)
    yield "numbers beyond 64 bits", several(b'{"numbers":[', b"99999999999999999999", b"]}", MIB)
    yield "one long text", b'{"note":"' + b"A" * (MIB - 20) + b'"}'
    yield "one long text of two bytes each", b'{"note":"' + "É".encode() * ((MIB - 20) // 2) + b'"}'
    yield "escapes", b'{"note":"' + b"\\u0001" * ((MIB - 20) // 6) + b'"}'
    yield "patterns that look ahead", several(b'{"ahead":[', b'"' + b"a" * 900 + b'"', b"]}", MIB)
    yield "short texts and patterns that look ahead", several(b'{"ahead":[', b'"aaa"', b"]}", MIB)
    yield "patterns that look ahead, and do not match", several(b'{"ahead":[', b'"' + b"a" * 900 + b'"', b',"c"]}', MIB)
    yield "names with patterns", b'{"named":{' + ",".join(numbered('"x%d":""', MIB - 20)).encode() + b"}}"
    yield "a long name with patterns", b'{"named":{"' + b"ab" * (MIB // 2 - 30) + b'":1}}'
    yield (
        "long names with patterns",
        b'{"named":{' + ",".join(f'"{"ab" * 450}{n}":1' for n in range(1100)).encode() + b"}}",
    )
    yield "a long host", b'{"host":"' + "\u00e9".encode().decode("unicode_escape").encode() * (MIB // 2 - 20) + b'"}'
    yield "a long host of labels", b'{"host":"' + "é.".encode() * (MIB // 3 - 20) + b'"}'
    yield "many hosts", several(b'{"hosts":[', '"é.example"'.encode(), b"]}", MIB)
    yield "a long expression", b'{"rule":"' + b"(a|b)" * (MIB // 5 - 20) + b'"}'
    yield "an expression of one letter", b'{"rule":"' + b"a" * (MIB - 20) + b'"}'
    yield "an expression that repeats", b'{"rule":"' + b"(((a{9}){9}){9}){9}" * (MIB // 20 - 20) + b'"}'
    yield "an expression of many classes", b'{"rule":"' + b"[a-z]" * (MIB // 5 - 20) + b'"}'
    yield "an expression of all letters", b'{"rule":"' + b"\\p{L}" * (MIB // 7 - 20) + b'"}'
    yield "many expressions", several(b'{"rules":[', b'"(a|b)*"', b"]}", MIB)
    yield "many expressions of all letters", several(b'{"rules":[', b'"\\w{50}"', b"]}", MIB)
    yield "a long mail address", b'{"mail":"' + "é".encode() * (MIB // 2 - 20) + b'@example.org"}'
    yield "a long place", b'{"place":"http://e/' + "é".encode() * (MIB // 2 - 40) + b'"}'
    yield "a long template", b'{"template":"' + b"{a}" * (MIB // 3 - 40) + b'"}'
    yield "multiples of a part", several(b'{"prices":[', b"1", b"]}", MIB)
    yield "values among those of an enum", several(b'{"among":[', b'{"b":[1,2,3]}', b"]}", MIB)
    yield "numbers among those of an enum", several(b'{"among":[', b"1", b"]}", MIB)
    yield (
        "many small sets",
        several(b'{"sets":[', b"[" + b",".join(b'{"a":%d}' % n for n in range(15)) + b"]", b"]}", MIB),
    )
    yield "schemas that ask what others name", b'{"nested":{' + ",".join(numbered('"x%d":1', MIB - 20)).encode() + b"}}"
    yield "numbers that are looked for", several(b'{"found":[', b"1", b"]}", MIB)
    yield "no JSON at its end", several(b'{"numbers":[', b"1", b"", MIB)


def requests() -> Iterator[Sent]:
    json = (("content-type", "application/json"),)
    for number, (name, body) in enumerate(bodies()):
        yield Sent(f"body: {name}", "PUT", f"/documents/d{chr(97 + number // 26)}{chr(97 + number % 26)}", body, json)
    for name, body in wholes():
        yield Sent(f"whole: {name}", "POST", "/whole", body, json)
    yield Sent("merge patch: many members", "PATCH", "/documents/large", bodies_by_name("a free object"), json)
    yield Sent("merge patch: many members cleared", "PATCH", "/documents/large",
               b'{"free":{' + ",".join(numbered('"a%d":null', MIB - 20)).encode() + b"}}", json)  # fmt: skip
    yield Sent("merge patch: one member of a large object", "PATCH", "/documents/large", b'{"free":{"b":1}}', json)
    for name, edits in patches():
        yield Sent(f"JSON Patch: {name}", "PATCH", "/edits/large", edits, json)
    for name, body in loops():
        yield Sent(f"expression: {name}", "POST", "/loops", body, json)
    for name, target in (("a large row", "/documents/large"), ("a page of all rows", "/pages?limit=100")):
        yield Sent(f"read: {name}", "GET", target)
        yield Sent(f"read: {name}, as it was", "GET", target, headers=(("if-none-match", '"a"'),))
    large = b'{"id":"idem","texts":["a"],"free":{' + ",".join(numbered('"a%d":1', MIB - 60)).encode() + b"}}"
    for often in ("once", "again"):
        yield Sent(f"key: {often}", "POST", "/documents", large, (*json, ("idempotency-key", '"one"')))
    for name, target, headers in heads():
        yield Sent(f"head: {name}", "GET", target, headers=headers)


def wholes() -> Iterator[tuple[str, bytes]]:
    for name, members in (("named by a part", '"x%d":1'), ("of no part", '"u%d":true'), ("of another type", '"u%d":1')):
        many = ",".join(numbered(members, MIB - 40)).encode()
        yield f"members {name}", b'{"a":"s",' + many + b"}"
        yield f"members {name}, and one that is wrong", b'{"a":"s",' + many + b',"d":1}'


def bodies_by_name(start: str) -> bytes:
    return next(body for name, body in bodies() if name.startswith(start))


def patches() -> Iterator[tuple[str, bytes]]:
    add = b'{"op":"add","path":"/numbers/0","value":1}'
    yield "adds before a long array", several(b"[", add, b"]", MIB)
    yield "removes before a long array", several(b"[", b'{"op":"remove","path":"/numbers/0"}', b"]", MIB)
    yield "copies of all", several(b"[", b'{"op":"copy","from":"/numbers","path":"/free/a"}', b"]", MIB)
    yield "moves of all", several(b"[", b'{"op":"move","from":"/numbers","path":"/free/a/b"}', b"]", MIB)
    yield "one edit of a large row", b'[{"op":"add","path":"/free/b","value":1}]'
    test = several(b'[{"op":"test","path":"/numbers","value":[', b"1", b"]}]", MIB)
    yield "a test of all", test
    wrong = b",".join(b'{"op":"add","path":"/numbers/%s","value":""}' % at for at in (b"0", b"-") for _ in range(50))
    for at in (b"0", b"-"):
        add = b'{"op":"add","path":"/numbers/%s","value":1}' % at
        yield f"adds at {at.decode()} behind what is wrong", several(b"[" + wrong + b",", add, b"]", MIB)
    deep = ",".join('{"op":"add","path":"/free%s","value":{}}' % ("/a" * level) for level in range(1, 900))
    yield "deeper and deeper", f"[{deep}]".encode()


def loops() -> Iterator[tuple[str, bytes]]:
    for size in (10_000, MIB):
        yield f"a macro over {size} bytes", several(b'{"numbers":[', b"1", b"]}", size)
        yield f"one macro in another, {size} bytes", several(b'{"square":[', b"1", b"]}", size)
        yield f"three macros, {size} bytes", several(b'{"cube":[', b"1", b"]}", size)
        half = size // 2
        yield (f"a part of a text, for each of many, {size} bytes",
               several(b'{"text":"' + b"a" * half + b'b","texts":[', b'"ac"', b"]}", size))  # fmt: skip
        yield f"numbers among values, {size} bytes", several(b'{"mixed":[', b'1,"a",{},[],null,true', b"]}", size)
        yield f"objects among values, {size} bytes", several(b'{"mixed":[', b'{"a":2}', b"]}", size)
        yield f"a slug, {size} bytes", b'{"text":"' + "É ".encode() * (size // 4) + b'"}'


def heads() -> Iterator[tuple[str, str, tuple[tuple[str, str], ...]]]:
    yield "many unknown parameters", "/documents?" + "&".join(numbered("a%d", HEAD)), ()
    yield "many values of a parameter", "/documents?" + "&".join(["n=1"] * (HEAD // 4)), ()
    yield "many wrong values of a parameter", "/documents?" + "&".join(["words=aaaa"] * (HEAD // 11)), ()
    yield "percent encoding", "/documents?id=" + "%C3%A9" * (HEAD // 6), ()
    yield "empty pairs", "/documents?" + "&" * HEAD, ()
    yield "a long path", "/documents" + "/a" * (HEAD // 2), ()
    yield "an encoded path", "/documents/" + "%20" * (HEAD // 3), ()
    yield "media ranges", "/documents", (("accept", "a/b;q=0.5," * (HEAD // 10)),)
    yield "parameters of a media range", "/documents", (("accept", "a/b" + ";a=b" * (HEAD // 4)),)
    yield "commas in Accept", "/documents", (("accept", "," * HEAD),)
    yield "spaces in Accept", "/documents", (("accept", " " * HEAD + "x"),)
    yield "semicolons and spaces in Accept", "/documents", (("accept", "a/b" + " ;" * (HEAD // 2)),)
    yield "an open quote in Accept", "/documents", (("accept", 'a/b;a="' + "\\a" * (HEAD // 2)),)
    yield "entity tags", "/documents", (("if-none-match", '"a",' * (HEAD // 4)),)
    yield "spaces in If-None-Match", "/documents", (("if-none-match", " " * HEAD + "x"),)
    yield "many header fields", "/documents", tuple((f"x-{number}", "a") for number in range(HEAD // 10))


class Loop:
    """The turns of an event loop, and the CPU that is spent between them."""

    def __init__(self) -> None:
        self.held = 0.0
        self._last = time.process_time()

    async def turn(self) -> None:
        while True:
            await asyncio.sleep(0.001)
            now = time.process_time()
            self.held, self._last = max(self.held, now - self._last), now

    def begin(self) -> None:
        self.held, self._last = 0.0, time.process_time()


async def answer(application: Callable[..., Any], sent: Sent) -> tuple[int, int]:
    """The status, and the bytes of the body."""
    path, _, query = sent.target.partition("?")
    headers = [(b"host", b"x"), *((name.encode(), value.encode("latin-1")) for name, value in sent.headers)]
    if sent.body:
        headers.append((b"content-length", str(len(sent.body)).encode()))
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": sent.method, "scheme": "http",
             "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
             "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}  # fmt: skip
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sent.body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        told.append(message)

    await application(scope, receive, send)
    return told[0]["status"], sum(len(each.get("body", b"")) for each in told[1:])


async def measure(words: list[str]) -> None:
    for unknown in ("refused", "ignored"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "documents.md")
            path.write_text(CONTRACT % unknown, encoding="utf-8")
            application = ninefold.application(path, database=str(Path(folder, "documents.db")))
            loop = Loop()
            async with application.lifespan():
                gc.freeze()  # as `ninefold serve` does
                ticking = asyncio.create_task(loop.turn())
                json = (("content-type", "application/json"),)
                large = msgspec.json.encode(
                    {"numbers": [1] * 250_000, "free": {f"a{each}": 1 for each in range(40_000)}}
                )
                for name in ("large", "larger", "largest"):
                    status, _ = await answer(application, Sent("", "PUT", f"/documents/{name}", large, json))
                    assert status == 201, status
                print(f"\nunknown members: {unknown}\n")
                print(f"{'':58}{'sent':>9}{'status':>8}{'answered':>10}{'held':>9}{'CPU':>9}")
                for sent in requests():
                    kind, _, _ = sent.name.partition(": ")
                    if any(word not in sent.name for word in words) or (unknown == "ignored" and kind not in HELD):
                        continue
                    await asyncio.sleep(0.01)
                    loop.begin()
                    began = time.process_time()
                    status, size = await answer(application, sent)
                    spent = time.process_time() - began
                    await asyncio.sleep(0.005)
                    length = len(sent.target) + len(sent.body) + sum(map(len, (value for _, value in sent.headers)))
                    print(
                        f"{sent.name:58}{length:9}{status:8}{size:10}{loop.held * 1e3:9.1f}{spent * 1e3:9.1f}",
                        flush=True,
                    )
                ticking.cancel()


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1:]))
