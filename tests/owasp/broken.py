"""Requests that nobody sends in good faith: what a contract's people would send, with something broken in it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from tests.door.attacks import ATTACKS
from tests.owasp.asking import NO_BODY, Asking
from tests.owasp.world import NOBODY

from ninefold.language.verbs import GRANT

PASSWORDS: Final = 40
"""Requests to one service with which it may look at a password: that costs some 200 ms of CPU, by intent."""

VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, -0.0, 1e308, 5e-324, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, "", " ", "a",
    "\0", "\u202e", "é" * 300, "x" * 5000, "1" * 400, "null", "9999-12-31T23:59:60Z", "2024-02-30", "-P1D", "P9999999Y",
    "00000000-0000-0000-0000-000000000000", "' OR 1=1 --", "../../etc/passwd", "{{7*7}}", "%00", "http://127.0.0.1:1",
    [], {}, [[]], [None], {"": ""}, {"$ref": "#/types/a"}, {"__class__": 1}, [0] * 300, {"a": {"a": {"a": {}}}},
    ["a", "a"], [{}, {}], {str(number): number for number in range(150)},
)  # fmt: skip

RAW: Final = (
    b"", b"{", b"}", b"[", b"nul", b"\xff\xfe", b"\xef\xbb\xbf{}", b'"\\ud800"', b'{"a":"\\ud800"}', b'{"a":1,"a":2}',
    b"[" * 200, b'{"a":' * 127 + b"1" + b"}" * 127, b"1e999999", b"-", b"NaN", b"Infinity", b"\0", b"{}{}", b"{}\n\n",
    b"a=1&a=2&%zz=%", b"=&=&&", b'{"a":' + b"9" * 5000 + b"}", b"x" * 70_000, b'["' + b"\\u0000" * 2000 + b'"]',
)  # fmt: skip

SEGMENTS: Final = (
    "", ".", "..", "%2e%2e", "%2F", "%00", "%zz", "%", "%C3%28", "%ED%A0%80", "a%0d%0aX:y", "0", "-1", "1e3", "٣",
    "9" * 400, "a" * 3000, "null", "undefined", "*", ";a=b", "a:b", "~", "%F0%9F%92%A9", "00000000", "true",
)  # fmt: skip

FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "Accept": ("*/*", "text/html", "application/json;q=0", ",,,", "a/b;c=\"\\", "application/*;q=1.0001", "*" * 400),
    "Accept-Encoding": ("gzip", "identity;q=0", "*;q=0"),
    "Authorization": ("Bearer", "Bearer x", "Basic =", "Basic Og==", "Bearer " + "a" * 4000, "Digest x", "Bearer a b",
                      "Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer ..", "\x80", "DPoP x"),
    "Cookie": ("=", ";;;", "a=b; a=c", "session=" + "x" * 3000, '"', "\x80=1"),
    "Content-Type": ("", "text/plain", "application/json; charset=utf-16", "application/json;charset=\"utf-8\"", "a",
                     "application/x-www-form-urlencoded", "multipart/form-data", "application/json-patch+json",
                     "application/merge-patch+json", "application/json, application/json"),
    "Content-Encoding": ("gzip", "identity", "br, gzip"),
    "Expect": ("100-continue", "200-ok"),
    "If-Match": ("*", '""', '"a"', "W/\"a\"", "a", '"' * 99, '"a", "b"' * 50, ","),
    "If-None-Match": ("*", '""', 'W/"a"', "a,b", '"' + "a" * 3000 + '"'),
    "If-Modified-Since": ("now", "Sat, 31 Feb 2026 25:61:61 GMT"),
    "Idempotency-Key": ("", "a", '"a"', '"a", "b"', "a" * 3000, "\x80", '"\\'),
    "Last-Event-ID": ("", "0", "-1", "9" * 400, "\x80", "a.b.c"),
    "Origin": ("null", "https://example.org", "\x80"),
    "Access-Control-Request-Method": ("PUT", "\x80"),
    "Prefer": ("return=minimal", "respond-async"),
    "Range": ("bytes=0-1", "bytes=-"),
    "TE": ("trailers",),
    "Upgrade": ("h2c", "websocket"),
    "Via": ("1.1 x",),
    "Forwarded": ("for=\"[", "for=_x, for=unknown"),
    "X-HTTP-Method-Override": ("DELETE",),
}  # fmt: skip

METHODS: Final = (
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY", "get", "X" * 40,
)  # fmt: skip


@dataclass(frozen=True)
class Good:
    """A request as somebody would make it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    looks_at_password: bool


def good_requests(asking: Asking, chance: random.Random) -> list[Good]:
    """A few of each endpoint and each kind of caller."""
    found = []
    fields = [each for resource in asking.world.checked.resources.values() for each in resource.fields.values()]
    passwords = {each.name.encode() for each in fields if each.secret == "password"}
    for key, endpoint in asking.endpoints.items():
        route = asking.routes[key]
        named = [(each.name, "1") for each in (*route.query, *route.headers)]
        for person in (NOBODY, *asking.world.people):
            rows = asking.some_rows(endpoint)
            for row in chance.sample(rows, min(2, len(rows))):
                path = asking.path(endpoint, row)
                body = asking.body(endpoint, person)
                if path is None:
                    continue
                headers = {**asking.version, **person.headers}
                query = {**asking._version_in("query"), **person.query}
                if route.idempotency_key == "required":
                    headers["Idempotency-Key"] = f'"{chance.random()}"'
                given_body = None if body is NO_BODY else json.dumps(body).encode()
                if given_body is not None and route.body is not None:
                    headers["Content-Type"] = route.body.media_types[0]
                asked = tuple(query.items()) + tuple(chance.sample(named, min(len(named), chance.randrange(3))))
                told = any(b'"%b"' % name in (given_body or b"") for name in passwords)
                is_dear = told or endpoint.kind.name in ("sign in", GRANT) or _is_basic(headers)
                found.append(Good(route.method, path, asked, tuple(headers.items()), given_body, is_dear))
    return found


def _is_basic(headers: Mapping[str, str]) -> bool:
    return headers.get("Authorization", "").lower().startswith("basic ")


class Hostile:
    """Requests with something broken in them, each by chance."""

    def __init__(self, good: list[Good], chance: random.Random) -> None:
        self._good, self._chance = good, chance
        self._cheap = [each for each in good if not each.looks_at_password]
        self._passwords = PASSWORDS
        self._names = sorted({name for each in good for name, _ in each.query} | {"limit", "cursor", "sort", "a"})

    def requests(self, count: int) -> Iterator[tuple[str, bytes]]:
        """The method of each, by which its answer is read, and its bytes."""
        for _ in range(count):
            yield self._request()

    def attack(self) -> tuple[str, bytes]:
        """The same of what may end its connection, or be several requests: of it the first answer is read."""
        sent = self._chance.choice(ATTACKS).sent
        return sent.split(b" ", 1)[0].decode("latin-1"), sent

    def _request(self) -> tuple[str, bytes]:
        chance = self._chance
        is_dear = self._passwords > 0 and chance.random() < 0.05
        good = chance.choice(self._good if is_dear else self._cheap)
        method, path, body = good.method, good.path, good.body
        query, headers = list(good.query), dict(good.headers)
        headers["X-Forwarded-For"] = f"10.{chance.randrange(256)}.{chance.randrange(256)}.{chance.randrange(256)}"
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            match chance.randrange(8):
                case 0 | 1 | 2 if body is not None:
                    body = self._broken(body)
                case 3:
                    path = self._path(path)
                case 4:
                    query.append((chance.choice(self._names), self._text()))
                    query += query[-1:] * chance.choice((0, 0, 0, 1, 200))
                case 5 | 6:
                    name = chance.choice(list(FIELDS))
                    headers[name] = chance.choice(FIELDS[name])
                case 7:
                    method = chance.choice(METHODS)
        if good.looks_at_password or _is_basic(headers):
            self._passwords -= 1
            if self._passwords < 0:
                headers.pop("Authorization", None)
        target = path + ("?" + "&".join(f"{quote(name)}={value}" for name, value in query) if query else "")
        return method, self._bytes(method, target, headers, body)

    def _bytes(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
        lines = [f"{method} {target} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in headers.items())]
        content = b""
        if body is not None and self._chance.random() < 0.3:
            lines.append("Transfer-Encoding: chunked")
            size = self._chance.choice((1, 7, 4096)) if len(body) < 4096 else 65_536
            pieces = (body[at : at + size] for at in range(0, len(body), size))
            content = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in pieces) + b"0\r\n\r\n"
        elif body is not None:
            lines.append(f"Content-Length: {len(body)}")
            content = body
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + content

    def _text(self) -> str:
        value = self._chance.choice(VALUES)
        text = value if isinstance(value, str) else json.dumps(value)
        return self._chance.choice((quote(text[:2000]), self._chance.choice(SEGMENTS)))

    def _path(self, path: str) -> str:
        parts = path.split("/")
        parts[self._chance.randrange(1, len(parts))] = self._chance.choice(SEGMENTS)
        return "/".join(parts)

    def _broken(self, body: bytes) -> bytes:
        chance = self._chance
        match chance.randrange(10):
            case 0:
                return chance.choice(RAW)
            case 1:
                return body[: chance.randrange(len(body) + 1)]
            case 2 if body:
                at = chance.randrange(len(body))
                return body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :]
        try:
            document = json.loads(body)
        except ValueError:
            return body
        for _ in range(chance.choice((1, 1, 2, 4))):
            document = self._changed(document)
        return json.dumps(document, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")

    def _changed(self, document: Any) -> Any:
        """The same with another value somewhere in it, one more or one less."""
        chance = self._chance
        if not isinstance(document, dict | list) or not document or chance.random() < 0.1:
            return chance.choice(VALUES)
        if isinstance(document, list):
            at = chance.randrange(len(document))
            return [*document[:at], self._changed(document[at]), *document[at + chance.choice((0, 1)) :]]
        name = chance.choice(list(document))
        match chance.randrange(5):
            case 0:
                return {each: value for each, value in document.items() if each != name}
            case 1:
                return document | {str(chance.choice(VALUES))[:100]: chance.choice(VALUES)}
            case _:
                return document | {name: self._changed(document[name])}
