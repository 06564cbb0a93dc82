"""Requests that are wrong in some way, or odd, made of good ones by chance."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.reference.messages import Request

TEXTS: Final = (
    "", " ", "0", "-0", "00", "+1", "1.0", "1e3", "-1", "9223372036854775807", "9223372036854775808", "1" * 40,
    "1e400", "NaN", "true", "null", "a\0b", "\0", "é", "e\u0301", "ß", "\U0001f600", "\ufeff", "%", "_", "\\", "'",
    '"', "''", "--", "2026-02-29", "2026-01-01T00:00:00Z", "2026-01-01T24:00:00Z", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:60Z", "2026-01-01T00:00:00.1234567+00:00", "PT0S", "P1M", "z" * 300, "A", "a", "Z", "ı", "İ",
    "\u212a", "x,y", ",", "*",
)  # fmt: skip
"""Texts that databases, or those who read them, take for something of their own."""

VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -0.0, 1, -1, 0.1, 1.0, 1e-7, 1e15, 1e16, 1e308, 5e-324, 2**31, 2**53, 2**53 + 1, 2**63 - 1,
    2**63, -(2**63), -(2**63) - 1, 10**30, 0.30000000000000004, 123456789.123456789, [], {}, [[]], [None],
    {"": 0}, {"a": None},
)  # fmt: skip


NAMES: Final = ("limit", "size", "page", "cursor", "sort", "fields", "id", "q")
"""Names of parameters."""


def mutated(request: Request, random: Random) -> Request:
    """Another one, in one or two ways."""
    for _ in range(random.choice((1, 1, 2))):
        ways = [_path, _query, _query, _headers, _method]
        ways += [] if request.body is None else [_body] * 6
        request = random.choice(ways)(request, random)
    return request


def _text(random: Random) -> str:
    return quote(random.choice(TEXTS), safe="")


def _path(request: Request, random: Random) -> Request:
    path, mark, query = request.target.partition("?")
    parts = path.split("/")
    parts[random.randrange(min(1, len(parts) - 1), len(parts))] = _text(random)
    return replace(request, target=("/" + "/".join(parts).lstrip("/")) + mark + query)


def _query(request: Request, random: Random) -> Request:
    path, _, query = request.target.partition("?")
    pairs = [each.partition("=") for each in query.split("&") if each]
    if pairs and random.random() < 0.8:
        at = random.randrange(len(pairs))
        match random.randrange(4):
            case 0:
                pairs.append(pairs[at])
            case 1:
                del pairs[at]
            case _:
                pairs[at] = (pairs[at][0], "=", _text(random))
    else:
        pairs.append(
            (random.choice(("limit", "size", "page", "cursor", "sort", "fields", "id", "q")), "=", _text(random))
        )
    query = "&".join("".join(pair) for pair in pairs)
    return replace(request, target=f"{path}?{query}" if query else path)


def _headers(request: Request, random: Random) -> Request:
    headers = dict(request.headers)
    name = random.choice([*headers, "if-match", "if-none-match", "accept", "idempotency-key", "prefer"])
    if name in headers and random.random() < 0.4:
        del headers[name]
    else:
        headers[name] = random.choice(("*", '"x"', 'W/"x"', "k", "text/html", "application/json", "é", "1", ""))
    return replace(request, headers=headers)


def _method(request: Request, random: Random) -> Request:
    return replace(request, method=random.choice(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")))


def _body(request: Request, random: Random) -> Request:
    assert request.body is not None
    try:
        document = json.loads(request.body)
    except ValueError:
        at = random.randrange(len(request.body))
        return replace(request, body=request.body[:at] + random.choice(TEXTS).encode() + request.body[at + 1 :] or None)
    if random.random() < 0.05:
        return replace(request, body=request.body[: random.randrange(len(request.body))] or None)
    places = list[Callable[[Any], None]]()
    holder = [document]
    _places(holder, places)
    value = random.choice(VALUES) if random.random() < 0.5 else random.choice(TEXTS)
    random.choice(places)(value)
    content = json.dumps(holder[0], ensure_ascii=random.random() < 0.5) if holder else ""
    return replace(request, body=content.encode("utf-8", "surrogatepass") or None)


def _places(of: Any, found: list[Callable[[Any], None]]) -> None:
    """What puts another value in each place of a JSON value, or takes it away, or adds one."""
    keys = list(of) if isinstance(of, dict) else list(range(len(of)))
    for key in keys:
        found.append(lambda value, key=key: of.__setitem__(key, value))  # type: ignore[misc]
        found.append(lambda value, key=key: of.__delitem__(key))  # type: ignore[misc]
        if isinstance(of[key], dict | list):
            _places(of[key], found)
    if isinstance(of, dict):
        found.append(lambda value: of.__setitem__("more", value))
