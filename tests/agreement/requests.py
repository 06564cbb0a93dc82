"""Random rows and requests for a contract: callers good, bad and absent; rows that are there and that are not; bodies
as the schemas say, and otherwise. What is asked next depends on what was answered, so that cursors lead on and entity
tags match."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlencode
from zlib import crc32

from tests.agreement.beside import FORM
from tests.reference.asking import LOG
from tests.reference.bodies import edits
from tests.reference.interpreter import Interpreter
from tests.reference.messages import NOTHING, Request, Response
from tests.reference.operations import expansion_of, filters_of, is_of_all, pages_of, projection_of, sorts_of
from tests.reference.rows import Row
from tests.reference.streams import MEDIA_TYPE
from tests.reference.values import broken_rules

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Expansion, Parameter, PathName, PathValue, Projection, Sorts
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked, Issued, LookedUp, Password
from ninefold.language.verbs import GRANT, kind_of
from ninefold.values import Anything, Array, Boolean, Integer, Number, Object, Text, Timestamp

TEXTS: Final = ("", "a", "ab", "b", "Bob", "é", "x y", "A-1", " ab ", "abcdefg", "👍")
TIMES: Final = (
    "2026-01-01T00:00:00.000000Z",
    "2025-12-31T23:59:59.123456Z",
    "2026-01-02T03:04:05.000000Z",
    "2027-06-01T00:00:00.000000Z",
)
WRITTEN_TIMES: Final = ("2026-01-01T00:00:00Z", "2025-12-31T23:59:59.1234567+00:00", "2026-01-02T05:04:05+02:00")
WHOLE: Final = (-5, 0, 1, 2, 3, 4, 7, 10, 11)
NUMBERS: Final[Sequence[str]] = ("0", "1", "3", "-1", "x", "1.0")
BROKEN: Final[tuple[Any, ...]] = (
    *(None, True, 5, "5", 1.5, -7, 2**63, "abcdefgh", "\0", "blue"),
    *([], ["a", "a", "toolong"], {}, {"w": -1}),
)

WHOLES: Final[Sequence[str]] = ("[]", "[1, 2]", '["a"]', "[-1]", "[", "7", "null")
STREAM: Final = "stream event"

TO_VALUES: Final = 3
"""Requests to each endpoint with a value in its path."""

TO_STREAMS: Final = 8


# ── Rows to begin with ────────────────────────────────────────────────────────────────────────────────────────


def rows(random: Random, checked: Checked) -> list[tuple[str, dict[str, Any]]]:
    """Rows that a service of the contract may have: unique where they have to be, their references pointing at rows."""
    found: list[tuple[str, dict[str, Any]]] = []
    for resource in checked.resources.values():
        for number in range(random.randint(1, 6)):
            row = _row(random, resource, number, found)
            if row is not None and not _clashes(row, resource, found):
                found.append((resource.name, row))
    return found


def _row(random: Random, resource: Resource, number: int, before: list[Any]) -> dict[str, Any] | None:
    row: dict[str, Any] = {}
    for field in resource.fields.values():
        if not field.stored:
            continue
        targets = [fields["id"] for name, fields in before if name == field.references]
        if resource.machine is not None and field.name == resource.machine.field:
            row[field.name] = random.choice(resource.machine.states)
        elif field.serial:
            row[field.name] = number * 2 + 1
        elif field.secret == "token":
            row[field.name] = f"{resource.name}-{number}"
        elif field.secret == "password":
            row[field.name] = None if random.random() < 0.2 else f"word-{number}"
        elif field.references is not None:
            if field.required and not targets:
                return None
            may_lack = not field.required and random.random() < 0.3
            row[field.name] = None if may_lack or not targets else random.choice(targets)
        elif field.name in resource.primary_key and field.schema.get("format") == "uuid":
            row[field.name] = f"00000000-0000-4000-8000-00000000000{number}"
        else:
            row[field.name] = stored_value(random, field)
            if row[field.name] is None and not field.type.nullable:
                return None
    return row


def _clashes(row: Mapping[str, Any], resource: Resource, before: list[Any]) -> bool:
    groups = [resource.primary_key, *resource.unique, *((name,) for name, f in resource.fields.items() if f.unique)]
    others = [fields for name, fields in before if name == resource.name]
    return any(
        all(row[name] is not None and row[name] == other[name] for name in group)
        for group in groups
        for other in others
    )


def stored_value(random: Random, field: Field) -> Any:
    """A value that the schema admits, in the form in which it is stored; None: there is none, or none was thrown."""
    if field.type.nullable and random.random() < 0.3:
        return None
    for _ in range(30):
        value = _value(random, field.type, TIMES)
        if not list(broken_rules(field.schema, value)):
            return float(value) if isinstance(field.type, Number) else value
    return None


def _value(random: Random, type_: Any, times: tuple[str, ...]) -> Any:
    match type_:
        case Boolean():
            return random.random() < 0.5
        case Integer():
            return random.choice(WHOLE)
        case Number():
            return random.choice([0.0, 0.5, 1.0, 1.5, 2.25, 50, -1.5, 100.5, 1e10])
        case Timestamp():
            return random.choice(times)
        case Array(items=items):
            return [_value(random, items, times) for _ in range(random.randint(0, 3))]
        case Object(members=members):
            return {name: _value(random, each, times) for name, each in members.items() if random.random() < 0.8}
        case Text():
            return random.choice([*TEXTS, "red", "green"])
        case Anything():
            return random.choice([1, "a", None])
        case _:
            return None


# ── Requests ──────────────────────────────────────────────────────────────────────────────────────────────────


class Asker:
    """Makes one request after another. It looks at the interpreter's rows, so that most requests are about something,
    and is told each response."""

    def __init__(self, random: Random, checked: Checked, interpreter: Interpreter) -> None:
        self.random, self.checked, self.interpreter = random, checked, interpreter
        self._beside = Random(0)
        """Throws that leave the other ones as they are."""
        values = {each.key for each in checked.endpoints if any(isinstance(one, PathValue) for one in each.segments)}
        values |= {each.key for each in checked.endpoints if each.case is not None}
        values |= {each.key for each in checked.endpoints if each.call is not None}
        values |= {each.key for each in checked.endpoints if FORM in checked.requests_of(each).media_types}
        values |= {each.key for each in checked.endpoints if each.key.endswith(("/seen", "/asked", "/headers"))}
        values |= {each.key for each in checked.endpoints if each.verb == STREAM}
        self.by_name = [each for each in checked.endpoints if each.key not in values]
        self.by_value = [each for each in checked.endpoints if each.key in values]
        self.of_accounts = [each for each in self.by_name if _is_of_accounts(each, checked)]
        self._streams = Random(f"streams {random.getstate()}")
        self._spelled = Random(f"spelled {random.getstate()}")
        self._orders = Random(f"orders {random.getstate()}")
        self._told: list[str] = []
        """Events that streams have told of."""
        self.of_log = [each for each in self.by_name if each.resource == LOG and each.verb == "list"]
        self.tags: list[str] = []
        self.cursors: list[tuple[str, str]] = []
        self._last: tuple[str, Request] | None = None
        self._kept: list[tuple[str, Request]] = []

    def any(self) -> Request:
        """A request to any endpoint."""
        return self._request()

    def to_values(self) -> Iterator[Callable[[], Request]]:
        """Some to endpoints with values in their paths, with cases and the like, which leave the other throws alone."""
        for endpoint in self.by_value:
            for _ in range(TO_VALUES if endpoint.verb != STREAM else TO_STREAMS):
                yield partial(self._of, endpoint)

    def told(self, response: Response) -> None:
        """What an answer teaches: entity tags, and where the next page begins."""
        if "etag" in response.headers:
            self.tags = [response.headers["etag"].strip('"'), *self.tags[:5]]
        if isinstance(response.body, list) and response.headers.get("content-type") == MEDIA_TYPE:
            self._told = [*(each["id"] for each in response.body[-3:]), *self._told[:3]]
            return
        cursors = list(_cursors(response.body)) if response.body is not NOTHING else []
        if cursors and self._last is not None:
            self.cursors = [(self._last[0], cursors[0]), *self.cursors[:5]]

    def _often(self, chance: float) -> bool:
        return self.random.random() < chance

    def _request(self) -> Request:
        if self._last is not None and self.cursors and self._often(0.2):
            following = self._next_page()
            if following is not None:
                return following
        if self._often(0.03):
            return Request(self.random.choice(["GET", "OPTIONS", "DELETE", "TRACE"]), self._base() + self._odd_path())
        endpoint = self.random.choice(self.by_name) if self.by_name else None
        if self.of_log and self._often(0.12):
            endpoint = self.random.choice(self.of_log)
        elif self.of_accounts and self._often(0.4):
            endpoint = self.random.choice(self.of_accounts)
        if endpoint is None:
            return Request("GET", "/")
        return self._of(endpoint)

    def _odd_path(self) -> str:
        return self.random.choice(["/nowhere", "/items/", "//", "/items/1/2/3", "/users", "/items/%zz", "/items/%ff"])

    def _base(self) -> str:
        return "/" + self.checked.base.strip("/") if self.checked.base.strip("/") else ""

    def _next_page(self) -> Request | None:
        key, cursor = self.random.choice(self.cursors)
        assert self._last is not None
        endpoint = next(each for each in self.checked.endpoints if each.key == self._last[0])
        pages = pages_of(endpoint)
        if pages is None or pages.by != "cursor" or pages.at is None or (endpoint.key != key and self._often(0.8)):
            return None
        path, _, query = self._last[1].target.partition("?")
        kept = [pair for pair in query.split("&") if pair and not pair.startswith(pages.at + "=")]
        target = path + "?" + "&".join([*kept, f"{pages.at}=⟦{cursor}⟧"])
        request = Request("GET", target, self._last[1].headers)
        self._last = (endpoint.key, request)
        return request

    def _of(self, endpoint: Endpoint) -> Request:
        method = endpoint.method
        if self._often(0.02):
            method = self.random.choice(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])
        elif method == "GET" and self._often(0.05):
            method = "HEAD"
        row = self._row(endpoint)
        path = self._base()
        for segment in endpoint.segments:
            path += "/" + (segment if isinstance(segment, str) else quote(self._spelling(segment, row), safe=""))
        headers: dict[str, str] = {}
        pairs = self._query(endpoint)
        self._credential(headers, pairs, row)
        if self._often(0.08):
            headers["accept"] = self.random.choice(["application/json", "*/*", "text/html", "text/html, application/*"])
        if endpoint.verb == STREAM:
            self._resume(headers, pairs)
        if endpoint.operation.validator and self.tags and self._often(0.5):
            name = self.random.choice(["if-match", "if-none-match"] if endpoint.verb == "read" else ["if-match"])
            tag = self.random.choice([f'"⟦{self.random.choice(self.tags)}⟧"', f'"⟦{self.tags[0]}⟧"', "*", '"nothing"'])
            headers[name] = tag
        elif _is_conditional(endpoint) and self._beside.random() < 0.1:
            name = self._beside.choice(["if-match", "if-none-match"])
            headers[name] = self._beside.choice(["*", '"nothing"', *(f'"⟦{each}⟧"' for each in self.tags[:2])])
        if "idempotency key" in endpoint.said and self._often(0.8):
            headers["idempotency-key"] = self.random.choice(["k1", "k2", '"k1"', '"k2"', "k1", '""', " "])
            if self._kept and self._often(0.4):
                self._last = self.random.choice(self._kept)
                return self._last[1]
        for declared in endpoint.takes.headers:
            if self._beside.random() < 0.7:
                headers[declared.name.lower()] = self._beside.choice(_header_texts(declared))
        body = self._body(endpoint, row, headers)
        target = path + ("?" + "&".join(pairs) if pairs else "")
        request = Request(method, target, headers, body)
        self._last = (endpoint.key, request)
        if "idempotency-key" in headers:
            self._kept = [self._last, *self._kept[:3]]
        return request

    def _resume(self, headers: dict[str, str], pairs: list[str]) -> None:
        """Behind an event that was told, to this caller or to another; behind none, or behind what is none."""
        throws = self._streams
        last = throws.choice(["0", "0", *(f"⟦{each}⟧" for each in [*self._told, *self._told]), "1", "", "nothing"])
        if throws.random() < 0.75:
            headers["last-event-id"] = last
        if throws.random() < 0.25:
            pairs.append(f"last-event-id={throws.choice([last, '0'])}")
        if headers.get("accept") == "application/json" and throws.random() < 0.7:
            headers["accept"] = "text/event-stream"

    # ── Rows and paths ────────────────────────────────────────────────────────────────────────────────────────

    def _row(self, endpoint: Endpoint) -> Row | None:
        found = self.interpreter.rows.of.get(endpoint.resource or "", [])
        return self.random.choice(found) if found else None

    def _spelling(self, name: PathName | PathValue, row: Row | None) -> str:
        """One of those that a field may take for the same value."""
        text = self._path_text(name, row)
        if (
            isinstance(name, PathName)
            and self.checked.resources[name.resource].fields[name.field].normalise is not None
        ):
            return self._spelled.choice([text, text.upper(), f" {text}", f"{text}  "])
        return text

    def _path_text(self, name: PathName | PathValue, row: Row | None) -> str:
        if isinstance(name, PathValue):
            return self.random.choice(["0", "1", "3", "40", "41", "-1", "x", "words", "é"])
        if row is not None and self._often(0.88):
            at: Row | None = row
            for reference in name.through:
                target = None if at is None else at.resource.fields[reference].references
                key = None if at is None else at.fields[reference]
                at = None if target is None else self.interpreter.rows.find(target, key)
            value = None if at is None else at.fields[name.field]
            if value is not None:
                return _text(value) or "x"
        others = [each.fields[name.field] for each in self.interpreter.rows.of.get(name.resource, [])]
        some = [_text(value) for value in others if value not in (None, "")]
        return self.random.choice([*some, "99", "nothing", "1.0", "00000000-0000-4000-8000-000000000099"])

    # ── Callers ───────────────────────────────────────────────────────────────────────────────────────────────

    def _credential(self, headers: dict[str, str], pairs: list[str], row: Row | None) -> None:
        schemes = self.checked.schemes
        if not schemes or self._often(0.12):
            return
        for scheme in schemes if self._often(0.1) else [self.random.choice(schemes)]:
            known = []
            if isinstance(scheme.verified, LookedUp):
                holders = self.interpreter.rows.of.get(scheme.verified.resource, [])
                known = [each.fields[scheme.verified.field] for each in holders]
            elif isinstance(scheme.verified, Issued):
                issued = self.interpreter.rows.credentials
                known = [each.text for each in issued if each.scheme == scheme.name]
            elif isinstance(scheme.verified, Password):
                known = list(self._basic(scheme.verified))
            text = self.random.choice(known) if known and self._often(0.93) else self.random.choice(["nobody", ""])
            match scheme.where:
                case "authorization":
                    word = scheme.parameter if self._often(0.95) else "Basic"
                    headers["authorization"] = f"{word} {text}"
                case "header":
                    headers[scheme.parameter.lower()] = text
                case "query":
                    pairs.append(f"{scheme.parameter}={quote(text)}")
                case "cookie":
                    headers["cookie"] = f"other=1; {scheme.parameter}={text}"

    def _basic(self, known_by: Password) -> Iterator[str]:
        """User-ids and passwords as RFC 7617 writes them: those of rows, and some like them."""
        throws = self._beside
        for row in self.interpreter.rows.of.get(known_by.resource, []):
            user, password = row.fields[known_by.user], row.fields[known_by.password]
            if (user is None or password is None) and throws.random() < 0.9:
                continue
            user, colon = user or "", "" if throws.random() < 0.03 else ":"
            user = user if throws.random() < 0.8 else throws.choice([f" {user}", f"{user}:", user.upper()])
            text = f"{user}{colon}{password or ''}{'x' if throws.random() < 0.05 else ''}"
            yield b64encode(text.encode("latin-1" if throws.random() < 0.05 else "utf-8", "replace")).decode()

    # ── Parameters ────────────────────────────────────────────────────────────────────────────────────────────

    def _query(self, endpoint: Endpoint) -> list[str]:
        pairs: list[tuple[str, str]] = []
        if self._often(0.04):
            pairs.append(("unheard", "1"))
        doing = {each.name for each in filters_of(endpoint)}
        sorts = sorts_of(endpoint)
        turning = None if sorts is None else sorts.reverse
        choosing = (sorts, turning, projection_of(endpoint), expansion_of(endpoint))
        doing |= {each.parameter for each in choosing if each is not None and each.parameter is not None}
        for declared in endpoint.takes.query:
            if declared.name not in doing and self._often(0.5):
                count = 2 if self._often(0.05) else 1
                texts = WHOLES if declared.is_json else NUMBERS
                pairs += [(declared.name, self.random.choice(texts))] * count
        exploding = {each.name: each.explode for each in endpoint.takes.query}
        for each in filters_of(endpoint):
            if self._often(0.4):
                several = isinstance(each.type, Array)
                single = each.type.items if isinstance(each.type, Array) else each.type
                texts = [self._filter_text(endpoint, each.name, single) for _ in range(self.random.randint(1, 2))]
                if several and not exploding[each.name]:
                    pairs.append((each.name, ",".join(texts)))
                else:
                    count = len(texts) if several or self._often(0.05) else 1
                    pairs += [(each.name, text) for text in texts[:count]]
        if sorts is not None and sorts.parameter is not None and self._often(0.5):
            pairs += self._ordered(sorts, sorts.parameter, exploding[sorts.parameter])
        if sorts is not None and sorts.reverse is not None and self._orders.random() < 0.6:
            values = [*sorts.reverse.values, *sorts.reverse.values, "asc", "false", ""]
            pairs.append((sorts.reverse.parameter, self._orders.choice(values)))
        for choice in (projection_of(endpoint), expansion_of(endpoint)):
            if choice is not None and self._often(0.6):
                pairs += self._chosen(choice, exploding[choice.parameter])
        pages = pages_of(endpoint)
        if endpoint.verb == "list" and pages is not None and pages.by != "none":
            if pages.size is not None and self._often(0.5):
                pairs.append((pages.size, self.random.choice(["1", "2", "3", "2", "0", "9", "x", str(2**63)])))
            if pages.at is not None and pages.by != "cursor" and self._often(0.5):
                pairs.append((pages.at, self.random.choice(["0", "1", "2", "4", "-1", "x"])))
            elif pages.at is not None and self._often(0.06):
                pairs.append((pages.at, "invented"))
        return [f"{quote(name)}={quote(text)}" for name, text in pairs]

    def _ordered(self, sorts: Sorts, parameter: str, explode: bool) -> list[tuple[str, str]]:
        offered = [each.name or ("-" if each.keys[0][1] else "") + each.keys[0][0] for each in sorts.offered]
        if not sorts.several:
            return [(parameter, self.random.choice([*offered, *offered, "id", "-", ""]))]
        named = [self._orders.choice([*offered] * 5 + ["id", ""]) for _ in range(self._orders.randint(1, 3))]
        return [(parameter, name) for name in named] if explode else [(parameter, ",".join(named))]

    def _chosen(self, choice: Projection | Expansion, explode: bool) -> list[tuple[str, str]]:
        names = self.random.sample(choice.offered, self.random.randint(1, len(choice.offered)))
        if self._often(0.08):
            names.append(self.random.choice(["", "nothing", names[0], "id"]))
        if not explode and self._often(0.95):
            names = [",".join(names)]
        return [(choice.parameter, name) for name in names]

    def _filter_text(self, endpoint: Endpoint, name: str, type_: Any) -> str:
        if self._often(0.08):
            return self.random.choice(["", "x", "1.5", "tru"])
        stored = [
            value
            for row in self.interpreter.rows.of.get(endpoint.resource or "", [])
            for value in row.fields.values()
            if _is_of(value, type_)
        ]
        if stored and self._often(0.6):
            return _text(self.random.choice(stored))
        return _text(_value(self.random, type_, TIMES))

    # ── Bodies ────────────────────────────────────────────────────────────────────────────────────────────────

    def _body(self, endpoint: Endpoint, row: Row | None, headers: dict[str, str]) -> bytes | None:
        if endpoint.takes.body is None:
            return None
        if endpoint.takes.body == ():
            if self._often(0.85):
                return None
            headers["content-type"] = "application/json"
            return self.random.choice([b"{}", b'{"a": 1}', b"[]", b"{"])
        headers["content-type"] = "application/json"
        if endpoint.verb == "update" and self._often(0.2):
            headers["content-type"] = "application/merge-patch+json"
        if self._often(0.05):
            match self.random.randint(0, 5):
                case 0:
                    del headers["content-type"]
                case 1:
                    headers["content-type"] = self.random.choice(["text/plain", "application/json; charset=utf-16"])
                case 2:
                    return b'{"padding": "' + b"a" * 1200 + b'"}'
                case _:
                    return self.random.choice([b"{", b"", b"[1]", b"null", b'"text"', b"\xff", b"{'a': 1}"])
        if endpoint.verb == GRANT:
            return self._grant(endpoint, row, headers)
        if edits(endpoint):
            headers["content-type"] = "application/json-patch+json" if self._often(0.5) else "application/json"
            return _written([self._edit(endpoint, row) for _ in range(self.random.choice([1, 1, 2, 3, 4]))])
        document: dict[str, Any] = {}
        assert endpoint.resource is not None
        resource = self.checked.resources[endpoint.resource]
        for leaf in endpoint.takes.body:
            self._leaf(document, leaf, resource, endpoint, row)
        if self._often(0.05):
            document["unheard"] = 1
        media_types = self.checked.requests_of(endpoint).media_types
        if FORM in media_types and self._often(0.9 if len(media_types) == 1 else 0.5):
            return self._form(document, headers)
        return _written(document)

    def _edit(self, endpoint: Endpoint, row: Row | None) -> Any:
        """An edit of what an endpoint takes (RFC 6902 4); a few are none, or of what is not there."""
        assert endpoint.resource is not None
        resource, leaves = self.checked.resources[endpoint.resource], endpoint.takes.body or ()

        def place() -> tuple[BodyLeaf, str]:
            leaf = self.random.choice(leaves)
            pointer = "".join(f"/{name}" for name in leaf.pointer)
            if isinstance(resource.fields[leaf.field].type, Array) and self._often(0.6):
                pointer += self.random.choice(["/0", "/-", "/1", "/2", "/01", "/x"])
            elif isinstance(resource.fields[leaf.field].type, Object) and self._often(0.6):
                pointer += self.random.choice(["/w", "/h", "/w/deep"])
            return leaf, self.random.choice(["", "/unheard", "/a~2", "a"]) if self._often(0.06) else pointer

        (leaf, path), (_, other) = place(), place()
        value = self._given(resource.fields[leaf.field])
        if path.count("/") > len(leaf.pointer) and not (isinstance(value, list | dict) and self._often(0.2)):
            inner = [*value] if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
            value = self.random.choice([*inner, 1, "x", None])
        there = None if row is None else row.fields[leaf.field]
        edit = self.random.choice(
            [
                {"op": "add", "path": path, "value": value},
                {"op": "replace", "path": path, "value": value},
                {"op": "replace", "path": path, "value": value},
                {"op": "remove", "path": path},
                {"op": "move", "from": other, "path": path},
                {"op": "copy", "from": other, "path": path},
                {"op": "test", "path": path, "value": there if self._often(0.8) else value},
            ]
        )
        if self._often(0.03):
            broken: list[Any] = [{}, 1, *({"op": op, "path": path} for op in ("put", "add", "move"))]
            return self.random.choice(broken)
        return edit

    def _grant(self, endpoint: Endpoint, row: Row | None, headers: dict[str, str]) -> bytes:
        """A request for a token (RFC 6749, section 4.4.2), by either way of saying which client it is."""
        document = {"grant_type": "client_credentials" if self._often(0.93) else "password"}
        if self._often(0.5):
            document["scope"] = self.random.choice(
                ["read", "write", "read write", "write read", "", "other", "read  write"]
            )
        own = {"client_id": "nobody", "client_secret": ""}
        for leaf in endpoint.takes.body or ():
            value = None if row is None else row.fields[leaf.field]
            own[leaf.pointer[0]] = "wrong" if value is None or self._often(0.05) else value
        by_basic = self._often(0.3)
        if by_basic:
            pair = ":".join(quote(each, safe="") for each in own.values())
            headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        if not by_basic or self._often(0.1):
            document |= own
        if self._often(0.04):
            del document[self.random.choice([*document])]
        if FORM in self.checked.requests_of(endpoint).media_types:
            headers["content-type"] = FORM
            return urlencode(document, errors="replace").encode()
        return json.dumps(document).encode()

    def _form(self, document: dict[str, Any], headers: dict[str, str]) -> bytes:
        headers["content-type"] = FORM + ("; charset=UTF-8" if self._often(0.1) else "")
        if self._often(0.06):
            return self.random.choice([b"", b"&&", b"=", b"%zz=1", b"a=%ff", b"unheard", b"id=1&id=2"])
        pairs = []
        for name, value in document.items():
            for each in value if isinstance(value, list) else [value]:
                pairs += [(name, json.dumps(each) if isinstance(each, bool | dict | list) else _text(each))]
        if pairs and self._often(0.05):
            pairs.append(self.random.choice(pairs))
        return urlencode(pairs, errors="replace").encode()

    def _leaf(
        self, document: dict[str, Any], leaf: BodyLeaf, resource: Resource, endpoint: Endpoint, row: Row | None
    ) -> None:
        field = resource.fields[leaf.field]
        needed = field.required and field.on_create is None and endpoint.verb != "update"
        needed = needed or endpoint.verb == "sign in"
        if self._often(0.04 if needed else 0.5):
            return
        around = document
        for name in leaf.pointer[:-1]:
            around = around.setdefault(name, {})
        own = row.fields[leaf.field] if row is not None and endpoint.verb == "sign in" and self._often(0.9) else None
        value = self._given(field) if own is None else own
        if self.checked.requests_of(endpoint).texts and self._beside.random() < 0.5:
            value = [_as_text(each) for each in value] if isinstance(value, list) else _as_text(value)
        around[leaf.pointer[-1]] = value

    def _given(self, field: Field) -> Any:
        if self._often(0.06):
            return self.random.choice(BROKEN)
        if field.secret == "password":
            return self.random.choice(["word-0", "word-1", "another", "é👍", None, "x"])
        if field.references is not None:
            keys = [row.key for row in self.interpreter.rows.of.get(field.references, [])]
            if field.normalise is not None:
                keys = [self._spelled.choice([each, each.upper(), f" {each}"]) for each in keys]
            if not field.required and self._often(0.2):
                return None
            odd = "nothing" if self._often(0.5) else 99
            return self.random.choice(keys) if keys and self._often(0.93) else odd
        if "null" in field.schema.get("type", ()) and self._often(0.2):
            return None
        for _ in range(20):
            value = _value(self.random, field.type, (*TIMES, *WRITTEN_TIMES))
            if not list(broken_rules(field.schema, value)):
                return value
        return value


def _as_text(value: Any) -> Any:
    """A number or a truth value as a text that JSON would read as it."""
    return json.dumps(value) if isinstance(value, int | float) else value


def _header_texts(declared: Parameter) -> Sequence[str]:
    if declared.is_json:
        return WHOLES
    return ("1", "1,2", "1 , 2", "0, 9, 3", "1,x", "", "10") if isinstance(declared.type, Array) else NUMBERS


def _is_of_accounts(endpoint: Endpoint, checked: Checked) -> bool:
    """Whether it makes, ends or tells of credentials, or gives a password."""
    fields = {} if endpoint.resource is None else checked.resources[endpoint.resource].fields
    gives = [fields[leaf.field].secret for leaf in endpoint.takes.body or ()]
    mutation = endpoint.mutation
    return "password" in gives or endpoint.key.endswith("/sessions") or (mutation is not None and bool(mutation.issues))


def _is_of(value: Any, type_: Any) -> bool:
    kinds = {Integer: int, Number: float, Text: str, Timestamp: str, Boolean: bool}
    wanted = kinds.get(type(type_))
    return wanted is not None and type(value) is wanted


def _written(document: Any) -> bytes:
    """A body; in some, what was a whole number is none by so little that its double is one."""
    text = json.dumps(document)
    if crc32(text.encode()) % 12:
        return text.encode()
    return re.sub(r"(?<=[ \[])(-?\d+)(?=[,}\]])", r"\1.00000000000000000001", text, count=1).encode()


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else "" if value is None else str(value)


def _cursors(body: Any) -> Iterator[str]:
    match body:
        case dict():
            for value in body.values():
                yield from _cursors(value)
        case list():
            for value in body:
                yield from _cursors(value)
        case str() if body.startswith("cursor-"):
            yield body


def _is_conditional(endpoint: Endpoint) -> bool:
    """Whether a request may have conditions on what it selects, be there entity tags or none."""
    return endpoint.method == "GET" or (kind_of(endpoint.verb).is_conditional and not is_of_all(endpoint))
