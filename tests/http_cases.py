"""Exchanges over HTTP, written as they go over the wire, and told to a service that really listens.

A file holds exchanges, one after another:

    # a comment
    POST /orders
    Authorization: Bearer {{ada}}
    Content-Type: application/json

    {"lines": []}

    HTTP 422
    Content-Type: application/problem+json
    !Location

    {"title": "{{*}}", "errors": [{"pointer": "/lines"}]}

- Headers that are listed must match, others may come besides; `!Name` must not come.
- A body of JSON is compared as JSON: members in any order, items in theirs, and nothing more or less. Another body is
  compared as text. Where nothing is expected, nothing must come.
- `{{name}}` in what is expected stands for anything when it is first met, and for the same from then on; in a request
  it is what it stood for. A string that is nothing but `{{name}}` may be any JSON value. `{{*}}` is anything each time.
- In a request body `{{letters 70000}}` is that many letters, and `{{nested 5000}}` an array that deep.
- `Transfer-Encoding: chunked` sends the body in chunks, without a length.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import httpx

from ninefold.database.sqlite import Opened, open_sqlite
from ninefold.operator.records import stated_rows
from ninefold.operator.rows import Caller
from ninefold.plan.service import ServicePlan
from ninefold.server.app import Application
from ninefold.server.run import Stop, serve
from ninefold.server.service import ready
from ninefold.server.tracing import Tracer

Known: TypeAlias = dict[str, Any]
"""What the names in double braces stand for."""

_REQUEST = re.compile(r"(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE|TRACE) (/.*|\*)$")
_RESPONSE = re.compile(r"HTTP ([1-5]\d\d)$")
_NAME = re.compile(r"\{\{([^{}]+)\}\}")


@dataclass(frozen=True)
class Exchange:
    """A request and what is expected of its response. `absent` are headers that must not come."""

    line: int
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    content: str
    status: int
    expected_headers: tuple[tuple[str, str], ...]
    absent: tuple[str, ...]
    expected: str


def read_exchanges(text: str) -> list[Exchange]:
    """The exchanges of a file. Raises ValueError where it cannot be read as such."""
    blocks = list(_blocks(text))
    if len(blocks) % 2:
        raise ValueError("a request has no response")
    return [_exchange(*pair) for pair in zip(blocks[::2], blocks[1::2], strict=True)]


@dataclass(frozen=True)
class _Block:
    """A request or a response: its first line, its headers, its body."""

    line: int
    first: str
    headers: tuple[str, ...]
    body: str


def _blocks(text: str) -> Iterator[_Block]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("#")]
    starts = [index for index, (_, line) in enumerate(lines) if _REQUEST.match(line) or _RESPONSE.match(line)]
    if any(line.strip() for _, line in lines[: starts[0] if starts else None]):
        raise ValueError("the file begins with something else than a request")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        head = [line for _, line in lines[start + 1 : end]]
        blank = next((index for index, line in enumerate(head) if not line.strip()), len(head))
        yield _Block(lines[start][0], lines[start][1], tuple(head[:blank]), "\n".join(head[blank:]).strip())


def _exchange(request: _Block, response: _Block) -> Exchange:
    asked, answered = _REQUEST.match(request.first), _RESPONSE.match(response.first)
    if not asked or not answered:
        raise ValueError(f"line {response.line if asked else request.line}: requests and responses take turns")
    return Exchange(
        line=request.line,
        method=asked[1],
        target=asked[2],
        headers=tuple(_header(line) for line in request.headers),
        content=request.body,
        status=int(answered[1]),
        expected_headers=tuple(_header(line) for line in response.headers if not line.startswith("!")),
        absent=tuple(line[1:] for line in response.headers if line.startswith("!")),
        expected=response.body,
    )


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ValueError(f"`{line}` is not a header")
    return name, value.strip()


def tell(client: httpx.Client, exchange: Exchange, known: Known) -> None:
    """Send a request and compare its response. Raises AssertionError with what came instead."""
    response = client.send(_request(client, exchange, known))
    came = _as_written(response)
    assert response.status_code == exchange.status, f"line {exchange.line}: expected {exchange.status}, came\n\n{came}"
    for name, expected in exchange.expected_headers:
        value = response.headers.get(name)
        assert value is not None and _text_matches(expected, value, known), (
            f"line {exchange.line}: expected {name}: {expected}, came\n\n{came}"
        )
    for name in exchange.absent:
        assert name not in response.headers, f"line {exchange.line}: expected no {name}, came\n\n{came}"
    assert _body_matches(exchange.expected, response.text, known), (
        f"line {exchange.line}: expected\n\n{exchange.expected}\n\nwith {known}, came\n\n{came}"
    )


def _request(client: httpx.Client, exchange: Exchange, known: Known) -> httpx.Request:
    headers = [(name, _filled(value, known)) for name, value in exchange.headers]
    body = _filled(exchange.content, known).encode()
    chunked = any(name.lower() == "transfer-encoding" for name, _ in headers)
    content = iter([body[:1000], body[1000:]]) if chunked else body
    request = client.build_request(exchange.method, _filled(exchange.target, known), content=content or None)
    # What the client adds of its own accord would be a fact that no file shows.
    for name in ("Accept", "Accept-Encoding", "User-Agent", "Content-Type"):
        request.headers.pop(name, None)
    request.headers = httpx.Headers([*request.headers.multi_items(), *(h for h in headers if h[1] != "chunked")])
    return request


def _filled(text: str, known: Mapping[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        word, _, count = match[1].partition(" ")
        if word == "letters" and count:
            return "a" * int(count)
        if word == "nested" and count:
            return "[" * int(count) + "]" * int(count)
        return str(known[match[1]])

    return _NAME.sub(value, text)


def _body_matches(expected: str, came: str, known: Known) -> bool:
    if not expected or not came:
        return expected == came
    try:
        wanted = json.loads(expected)
    except ValueError:
        return _text_matches(expected, came, known)
    try:
        return _matches(wanted, json.loads(came), known)
    except ValueError:
        return False


def _matches(wanted: Any, came: Any, known: Known) -> bool:
    """Whether a JSON value is the one that is wanted."""
    match wanted:
        case str():
            if whole := _NAME.fullmatch(wanted):
                return whole[1] == "*" or _same(known.setdefault(whole[1], came), came)
            return isinstance(came, str) and _text_matches(wanted, came, known)
        case dict():
            return (
                isinstance(came, dict)
                and wanted.keys() == came.keys()
                and all(_matches(value, came[name], known) for name, value in wanted.items())
            )
        case list():
            return (
                isinstance(came, list)
                and len(wanted) == len(came)
                and all(_matches(each, item, known) for each, item in zip(wanted, came, strict=True))
            )
        case _:
            return _same(wanted, came)


def _same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are one number (RFC 8259), and `true` is none."""
    return isinstance(first, bool) is isinstance(second, bool) and bool(first == second)


def _text_matches(wanted: str, came: str, known: Known) -> bool:
    """Whether a text is the one that is wanted, with names in it."""
    pattern, names, at = "", [], 0
    for match in _NAME.finditer(wanted):
        pattern += re.escape(wanted[at : match.start()])
        at = match.end()
        if match[1] in known:
            pattern += re.escape(str(known[match[1]]))
        else:
            pattern += "(.+)"
            names.append(match[1])
    found = re.fullmatch(pattern + re.escape(wanted[at:]), came)
    if found is None:
        return False
    known.update({name: text for name, text in zip(names, found.groups(), strict=True) if name != "*"})
    return True


def _as_written(response: httpx.Response) -> str:
    lines = [f"HTTP {response.status_code}", *(f"{name}: {value}" for name, value in response.headers.items())]
    return "\n".join([*lines, "", response.text])


@contextmanager
def serving(plan: ServicePlan, path: Path, operator: Mapping[str, str], trace: bool = False) -> Iterator[httpx.Client]:
    """Serve a plan from a database at `path`, on a port that is free, until the block ends."""
    opened = open_sqlite(str(path), plan.schema, stated_rows(plan, Caller(operator)))
    assert isinstance(opened, Opened), opened
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    tracer = Tracer(plan).traced if trace else None
    application = Application(ready(plan, opened.database.key("cursors"), operator), opened.database, trace=tracer)
    stop = Stop()
    thread = threading.Thread(target=lambda: asyncio.run(serve(application, [listening], stop=stop)))
    thread.start()
    try:
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=10) as client:
            yield client
    finally:
        stop.request()
        thread.join()
        opened.database.close()
