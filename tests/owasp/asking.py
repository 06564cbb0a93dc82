"""Requests made from a contract, and what was found by them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import httpx
from tests.owasp.world import ANYONE, NOBODY, Person, World, marked
from tests.reference.expressions import at_hand
from tests.reference.rows import Row
from tests.server.identity import Provider

from ninefold.checked import endpoints as checked
from ninefold.checked.operations import PathName, PathValue
from ninefold.language.conditions import STATUSES
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.values import Row as RowType

NOW = "2026-11-21T00:00:00.000000Z"
NO_BODY = object()
WRITING = frozenset(("POST", "PUT", "PATCH", "DELETE"))


@dataclass(frozen=True)
class Finding:
    """Something that is not as the contract says. `item`: of the OWASP API Security Top 10 (2023)."""

    item: str
    endpoint: str
    who: str
    words: str


@dataclass(frozen=True)
class Sent:
    endpoint: str
    who: str
    request: str
    response: httpx.Response


@dataclass
class Asking:
    """Whoever asks a service. `sent` is everything that was asked and answered."""

    world: World
    http: httpx.Client
    served: ServicePlan
    """What is really served: the world is that of the contract."""
    provider: Provider
    """Who signs the tokens of the world's people."""
    pass_by: Callable[[], None] = lambda: None
    """Called before each request: lets time pass, so that no rate is reached."""
    sent: list[Sent] = field(default_factory=list)
    count: int = 10

    def __post_init__(self) -> None:
        plan = self.world.plan
        self.routes = {route.key: route for route in plan.routes if isinstance(route, Served)}
        self.endpoints = {each.key: each for each in self.world.checked.endpoints if each.key in self.routes}
        versions = plan.versions
        in_path = versions is not None and versions.by == "path"
        self.before = (
            *plan.base,
            *((self.world.checked.versions.current,) if in_path and self.world.checked.versions else ()),
        )

    @property
    def version(self) -> dict[str, str]:
        """The header that names the newest version: one that names none may be in another."""
        return self._version_in("header")

    def _version_in(self, place: str) -> dict[str, str]:
        versions = self.world.plan.versions
        return {versions.name: versions.current} if versions is not None and versions.by == place else {}

    # ── Asking ────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(
        self,
        endpoint: str,
        person: Person,
        path: str,
        body: Any = NO_BODY,
        *,
        method: str | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """What comes of a request. `headers` count before those of the person."""
        route = self.routes.get(endpoint)
        method = method or (route.method if route else "GET")
        fields = {name: value.strip() for name, value in {**self.version, **person.headers, **(headers or {})}.items()}
        content = b""
        if body is not NO_BODY:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            fields.setdefault("Content-Type", route.body.media_types[0] if route and route.body else "application/json")
        if route is not None and route.idempotency_key == "required":
            self.count += 1
            fields.setdefault("Idempotency-Key", f"key-{self.count}")
        target = path + (
            ""
            if not (asked := {**self._version_in("query"), **person.query, **(query or {})})
            else "?" + str(httpx.QueryParams(asked))
        )
        self.pass_by()
        response = self.http.request(method, target, content=content, headers=fields)
        self.sent.append(Sent(endpoint, str(person), f"{method} {target} {content[:200]!r}", response))
        return response

    def untouched(self, endpoint: str, person: Person, *rest: Any, **more: Any) -> tuple[httpx.Response, bool]:
        """The same; and whether nothing of what is stored has changed."""
        before = self.world.snapshot()
        response = self.ask(endpoint, person, *rest, **more)
        return response, self.world.snapshot() == before

    # ── What is asked for ─────────────────────────────────────────────────────────────────────────────────────

    def path(self, endpoint: checked.Endpoint, row: Row | None) -> str | None:
        """The path of an endpoint for a row that it acts on, or, where it makes one, with rows that there are."""
        route, found = self.routes[endpoint.key], list(self.before)
        schemas = {each.name: each.schema for each in route.path}
        for segment in endpoint.segments:
            match segment:
                case str():
                    found.append(segment)
                    continue
                case PathName():
                    value = self.value(segment, row)
                case PathValue():
                    value = marked(schemas[segment.text], schemas[segment.text], "path", segment.text, 0)
            if value is None:
                return None
            word = f":{segment.after}" if segment.after else ""
            found.append(quote(str(value), safe="") + word)
        return "/" + "/".join(found)

    def value(self, name: PathName, row: Row | None) -> Any:
        if row is None:
            others = self.world.of(name.resource)
            return others[0].fields[name.field] if others else None
        at: Row | None = row
        for reference in name.through:
            if at is None or at.fields.get(reference) is None:
                return None
            target = at.resource.fields[reference].references
            at = self.world.rows.find(target or "", at.fields[reference])
        return None if at is None else at.fields.get(name.field)

    def absent(self, endpoint: checked.Endpoint, path: str) -> str | None:
        """The same path with a value of which there is no row, where one name says which row it is."""
        if len(endpoint.names) != 1:
            return None
        at = next(i for i, each in enumerate(endpoint.segments) if isinstance(each, PathName))
        parts = path.split("/")
        old = parts[1 + len(self.before) + at]
        parts[1 + len(self.before) + at] = (
            old.translate(_OTHER) if len(old) > 8 else "987654" if old.isdigit() else "nowhere"
        )
        return "/".join(parts)

    def body(self, endpoint: checked.Endpoint, person: Person, changes: Mapping[str, Any] | None = None) -> Any:
        """A body that the endpoint takes, with other values each time. `changes`: values of fields to be given
        instead."""
        body = self.routes[endpoint.key].body
        if body is None or body.optional or endpoint.resource is None:
            return NO_BODY
        self.count += 1
        resource = self.world.checked.resources.get(endpoint.resource)
        found: dict[str, Any] = {}
        for each in body.fields:
            schema: Any = body.schema
            for name in each.pointer:
                schema = schema.get("properties", {}).get(name, {}) if isinstance(schema, dict) else {}
            own = None if resource is None else resource.fields.get(each.field)
            if changes and each.field in changes:
                value = changes[each.field]
            elif isinstance(each.type, RowType):
                seen = [row for row in self.world.of(each.type.resource) if self.world.sees(person, row, NOW)]
                value = seen[self.count % len(seen)].key if seen else None
            elif each.fixed:
                continue
            else:
                value = marked(schema, body.schema, endpoint.resource, each.field, self.count)
            if value is None and (own is None or not own.required):
                continue
            at = found
            for name in each.pointer[:-1]:
                at = at.setdefault(name, {})
            at[each.pointer[-1]] = value
        return edits(found) if body.edits else found

    def rows(self, endpoint: checked.Endpoint) -> list[Row]:
        """The rows that the endpoint may be asked to act on."""
        return [] if endpoint.resource is None else self.world.of(endpoint.resource)

    def some_rows(self, endpoint: checked.Endpoint) -> list[Row | None]:
        """The same; where there are none, the endpoint is asked once without."""
        return [*self.rows(endpoint)] or [None]

    def admits(self, endpoint: checked.Endpoint, person: Person, row: Row | None) -> bool:
        """Whether the contract lets a person call an endpoint, as far as permissions say it, for a row."""
        for each in endpoint.admissions:
            if each.who != person.scheme:
                continue
            if each.condition is None:
                return True
            reading = self.world.reading(person, NOW)
            if row is not None:
                reading = reading.also(**{row.resource.name: at_hand(row)})
            return reading.holds(each.condition)
        return False

    def is_refused_anyway(self, endpoint: checked.Endpoint, person: Person) -> bool:
        """Whether a person may not call an endpoint, of whatever row."""
        mine = [each for each in endpoint.admissions if each.who == person.scheme]
        return all(each.of_request and not self.admits(endpoint, person, None) for each in mine)

    def statuses(self, condition: str, endpoint: checked.Endpoint | None = None) -> set[int]:
        """The statuses with which a condition may be answered."""
        errors = self.world.checked.errors
        own = {} if endpoint is None else endpoint.errors
        every = [*own.items(), *errors.conditions.items()]
        names = {code for name, code in every if f"{name} ".startswith(f"{condition} ")}
        return {code.status for code in errors.codes if code.name in names} | {STATUSES[condition]}

    def everybody(self) -> Iterator[Person]:
        yield NOBODY
        yield from self.world.people

    def kinds(self, endpoint: checked.Endpoint) -> Iterator[Person]:
        """One person of each kind: without a credential, and of each scheme."""
        yield NOBODY
        for scheme in dict.fromkeys(each.scheme for each in self.world.people):
            yield next(each for each in self.world.people if each.scheme == scheme)


def admitted(endpoint: checked.Endpoint, person: Person) -> bool:
    return person.scheme in {each.who for each in endpoint.admissions}


def anyone_may(endpoint: checked.Endpoint) -> bool:
    return ANYONE in {each.who for each in endpoint.admissions}


def is_good(response: httpx.Response) -> bool:
    return response.status_code < 400


_OTHER = str.maketrans("0123456789abcdef", "1234567890bcdefa")

REFUSALS = frozenset((400, 401, 403, 404, 405, 406, 409, 410, 412, 415, 422, 428, 429))
"""The statuses of what is refused."""


def digest(text: str) -> str:
    """What is stored of a token, in hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def edits(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A JSON Patch (RFC 6902) that gives the members of a document."""
    return [{"op": "add", "path": f"/{name}", "value": value} for name, value in document.items()]


def also(body: Any, name: str, value: Any) -> Any:
    """A body that gives one member more."""
    return [*body, *edits({name: value})] if isinstance(body, list) else {**body, name: value}
