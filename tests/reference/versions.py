"""A service in several versions (part 9): which one a request is of, and what all of them share. An older version is a
contract of its own over the same rows; an idempotency key and a cursor are of the version in which they were given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from tests.reference import callers, media_types, origins, routes
from tests.reference.asking import ANYONE, Asking, parameters_of
from tests.reference.calls import Function
from tests.reference.expressions import Chance, Fails, Reading
from tests.reference.failures import Failure
from tests.reference.interpreter import Interpreter
from tests.reference.messages import Request, Response
from tests.reference.rows import Fields, Row, Rows
from tests.reference.values import broken_rules
from tests.reference.writes import reads, within

from ninefold.checked.service import Checked, Version, Versions
from ninefold.expressions.tree import Select, Typed

UNNAMED: Final = "(none)"
"""The version of a request that names none, where an expression says which it is."""


@dataclass(frozen=True)
class Named:
    """A field that the older version calls `to`."""

    resource: str
    field: str
    to: str

    def down(self, fields: Fields) -> Fields:
        return {self.to if name == self.field else name: value for name, value in fields.items()}

    def up(self, fields: Fields, was: Fields | None) -> Fields:
        return {self.field if name == self.to else name: value for name, value in fields.items()}


@dataclass(frozen=True)
class Without:
    """A field that the older version does not have: a row that is created there has `value`."""

    resource: str
    field: str
    value: Typed | None

    def down(self, fields: Fields) -> Fields:
        return {name: value for name, value in fields.items() if name != self.field}

    def up(self, fields: Fields, was: Fields | None) -> Fields:
        made = None if self.value is None else Reading({}, Rows(), {}).value_or_none(self.value)
        return {**fields, self.field: made if was is None else was[self.field]}


@dataclass(frozen=True)
class Beside:
    """A field of the older version alone, without a value."""

    resource: str
    field: str

    def down(self, fields: Fields) -> Fields:
        return {**fields, self.field: None}

    def up(self, fields: Fields, was: Fields | None) -> Fields:
        return {name: value for name, value in fields.items() if name != self.field}


@dataclass(frozen=True)
class Made:
    """A field with another value in the older version; both expressions read `request.path.value`."""

    resource: str
    field: str
    shown: Typed
    stored: Typed
    schema: Mapping[str, Any]

    def down(self, fields: Fields) -> Fields:
        return {**fields, self.field: self.as_shown(fields[self.field])}

    def up(self, fields: Fields, was: Fields | None) -> Fields:
        value = fields[self.field]
        if was is not None and self.as_shown(was[self.field]) == value:
            return {**fields, self.field: was[self.field]}
        return {**fields, self.field: None if value is None else _of(self.stored, value)}

    def as_shown(self, value: Any) -> Any:
        try:
            return _of(self.shown, value)
        except Fails:
            return None

    def becomes(self, value: Any) -> Any:
        """What is shown of a value that a client gives. Raises Fails where nothing can be stored of it."""
        stored = _of(self.stored, value)
        if stored is None or any(broken_rules(self.schema, stored)):
            raise Fails("nothing is stored of it")
        return self.as_shown(stored)


def _of(typed: Typed, value: Any) -> Any:
    return Reading({}, Rows(), {"request": {"path": {"value": value}}}).value(typed)


RowChange: TypeAlias = Named | Without | Beside | Made


@dataclass(frozen=True)
class Older:
    """An older version: what it is, how its rows differ from those of the version above it, and what the keys of its
    endpoints are there."""

    name: str
    checked: Checked
    rows: tuple[RowChange, ...]
    keys: Mapping[str, str]


@dataclass
class Service:
    """`of`: each version that is served by its name, the newest first, or None where there are no versions."""

    checked: Checked
    rows: Rows = field(default_factory=Rows)
    older: Sequence[Older] = ()
    functions: Mapping[str, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        versions = self.checked.versions
        self.of: dict[str | None, Interpreter] = {}
        names = [None] if versions is None else [each.name for each in versions.versions]
        of = [self.checked, *(each.checked for each in self.older)]
        for name, checked in zip(names, of, strict=False):
            parameter = versions.name if versions is not None and versions.by == "query" else None
            self.of[name] = Interpreter(checked, version=name, version_parameter=parameter, functions=self.functions)
            if versions is not None and versions.by == "media type":
                self.of[name].media_type_parameter = versions.name
            self.of[name].counted = self.newest.counted
        for number, each in enumerate(self.older):
            worked = [one for way in self.older[: number + 1] for one in way.rows if isinstance(one, Made)]
            self.of[each.name].becomes = {(one.resource, one.field): one.becomes for one in worked}

    def begin(self, rows: Rows) -> None:
        """From now on these are the rows."""
        self.rows = self.newest.rows = rows

    @property
    def newest(self) -> Interpreter:
        return next(iter(self.of.values()))

    def answer(self, request: Request, now: str, chance: Chance) -> Response:
        """The response; `rows` become what the request makes of them."""
        return origins.told(self.checked.cors, request, self._answer(request, now, chance))

    def _answer(self, request: Request, now: str, chance: Chance) -> Response:
        versions = self.checked.versions
        if versions is None:
            response = self.newest.answer(request, now, chance)
            self.rows = self.newest.rows
            return response
        newest = self.newest
        name, within = self._named(versions, request)
        if name is UNNAMED:
            assert versions.pinned is not None
            name = self._pinned(versions.pinned, request, now, chance)
            allowed = self._allowed(request)
            if allowed is not None:
                return self._told_apart(versions, Response(204, {"allow": allowed}))
            if versions.by == "path":
                name, within = self._placed(name, request, self._behind(request)[1])
        if name is None:
            of = newest if within is request else self._with_path(within)
            response = of.answer(within, now, chance, request.target, Failure("unknown version"))
            return self._told_apart(versions, response)
        version = next(each for each in versions.versions if each.name == name)
        has_ended = version.retired is not None and moment_of(version.retired) <= datetime.fromisoformat(now)
        interpreter = self.at(name)
        before = interpreter.rows
        within = replace(within, headers=_with_tags(within.headers, f'"{name}|', '"'))
        besides = [Failure("retired version")] if has_ended else []
        response = interpreter.answer(within, now, chance, request.target, *besides)
        response = replace(response, headers=_with_tags(response.headers, '"', f'"{name}|'))
        if name != versions.current and interpreter.rows is not before:
            self._take(name, interpreter.rows)
        self.rows = newest.rows
        response = self._led_on(versions, version, within, now, self._dated(versions, version, response))
        return self._told_apart(versions, response)

    # ── Which version ─────────────────────────────────────────────────────────────────────────────────────────

    def _named(self, versions: Versions, request: Request) -> tuple[str | None, Request]:
        """The version, or None where there is no such one; and the request without the segment that names it."""
        names = [each.name for each in versions.versions]
        given: str | None
        match versions.by:
            case "path":
                first, behind = self._behind(request)
                if first is None or first in names:
                    return (versions.default, request) if first is None else (first, behind)
                return (UNNAMED, request) if versions.pinned else self._placed(versions.default, request, behind)
            case "header":
                given = request.headers.get(versions.name.lower())
            case "media type":
                given = self._in_media_types(versions, request)
            case _:
                several = parameters_of(request.target.partition("?")[2]).get(versions.name)
                given = None if several is None else several[0] if len(several) == 1 else ""
        if given is None:
            return versions.default if versions.pinned is None else UNNAMED, request
        return given if given in names else None, request

    def _behind(self, request: Request) -> tuple[str | None, Request]:
        """The segment behind the base, if the path is under it, and the request without it."""
        base = self.checked.base.rstrip("/")
        path, mark, query = request.target.partition("?")
        first, slash, rest = path.removeprefix(base).removeprefix("/").partition("/")
        behind = replace(request, target=f"{base}{slash}{rest}{mark}{query}" if slash else f"{base}/")
        return first if path.startswith(base + "/") else None, behind

    def _placed(self, default: str | None, request: Request, behind: Request) -> tuple[str | None, Request]:
        """Where no segment names a version: the one that counts then, if it has the path or no version has what comes
        behind the segment."""
        of = self.newest if default is None else self.of[default]
        leads_on = not _has(of, request) and any(_has(each, behind) for each in self.of.values())
        return (None, behind) if leads_on else (default, request)

    def _in_media_types(self, versions: Versions, request: Request) -> str | None:
        """What Accept prefers of what there is, which has to be what Content-Type says."""
        parameter = versions.name.lower()
        sent = media_types.parameters_of(request.headers.get("content-type", ""))[1].get(parameter)
        accepted = media_types.accepted(request.headers.get("accept", "*/*"), parameter)
        if not accepted:
            return sent
        names = [each.name for each in versions.versions]
        return next((each for each in accepted if each in names and sent in (None, each)), "")

    def _pinned(self, pinned: Typed, request: Request, now: str, chance: Chance) -> str | None:
        """Meaning "default versions": the version that the caller has, or a header names; None: there is no such."""
        asking = Asking(self.newest, request, now, chance, None, ())
        found = [routes.find(each.checked, request.method, asking.path) for each in self.of.values()]
        served = [each.cases[0] for each in found if isinstance(each, routes.Found) and each.cases]
        is_for_anyone = bool(served) and all([each.who for each in one.admissions] == [ANYONE] for one in served)
        who = None if is_for_anyone else callers.first(asking)
        headers = {name: request.headers.get(name.lower()) for name in _headers_of(pinned)}
        asking.names |= {"caller": {} if who is None else who.names, "request": {"headers": headers}}
        name = asking.all().value_or_none(pinned)
        return name if name in self.of else None

    def _allowed(self, request: Request) -> str | None:
        """What some version allows there, where browsers ask."""
        if request.method != "OPTIONS":
            return None
        path = request.target.partition("?")[0]
        found = (routes.find(each.checked, "OPTIONS", path) for each in self.of.values())
        met = {name for each in found if isinstance(each, routes.NotAllowed) for name in each.allow.split(", ")}
        return ", ".join(sorted(met)) if met else None

    def _with_path(self, request: Request) -> Interpreter:
        """A version that has the path, and one before others that has the method there."""
        having = [each for each in self.of.values() if _has(each, request)]
        return next((each for each in having if _has(each, request, routes.Found)), having[0])

    def _told_apart(self, versions: Versions, response: Response) -> Response:
        if len(versions.versions) < 2:
            return response
        told = {"header": [versions.name], "media type": ["Accept"]}.get(versions.by, [])
        if versions.pinned is not None:
            told += callers.headers_of(self.checked.schemes) if reads(versions.pinned, "caller") else []
            told += _headers_of(versions.pinned)
        return replace(response, headers={**response.headers, "vary": ", ".join(told)}) if told else response

    def _dated(self, versions: Versions, version: Version, response: Response) -> Response:
        """Meaning "deprecation": RFC 9745 and RFC 8594."""
        headers = dict(response.headers)
        if "deprecated" in version.said:
            headers["deprecation"] = f"@{int(moment_of(str(version.said['deprecated'])).timestamp())}"
        if "sunset" in version.said:
            headers["sunset"] = format_datetime(moment_of(str(version.said["sunset"])), usegmt=True)
        return replace(response, headers=headers)

    def _led_on(self, versions: Versions, version: Version, request: Request, now: str, response: Response) -> Response:
        """RFC 5829: the same endpoint in the version above, which can be told by an address."""
        names = [each.name for each in versions.versions]
        above = versions.versions[max(names.index(version.name) - 1, 0)]
        ends = above.retired is not None and moment_of(above.retired) <= datetime.fromisoformat(now)
        found = routes.find(self.of[version.name].checked, request.method, request.target.partition("?")[0])
        announced = version.said.keys() & {"deprecated", "sunset"}
        if versions.by not in ("path", "query") or above is version or ends or not announced:
            return response
        if not isinstance(found, routes.Found) or not found.cases:
            return response
        key = self.older[names.index(version.name) - 1].keys.get(found.cases[0].key)
        to = next((each for each in self.of[above.name].checked.endpoints if each.key == key), None)
        if to is None:
            return response
        base = [text for text in self.checked.base.split("/") if text]
        texts = iter(found.texts)
        path = [each if isinstance(each, str) else _filled(each, next(texts)) for each in to.segments]
        by_path = versions.by == "path"
        address = "/" + "/".join([*base, *([above.name] if by_path else []), *path])
        address += "" if by_path else f"?{versions.name}={above.name}"
        return replace(response, headers={**response.headers, "link": f'<{address}>; rel="successor-version"'})

    # ── The same rows ─────────────────────────────────────────────────────────────────────────────────────────

    def at(self, name: str | None) -> Interpreter:
        """A version with the rows as they are there."""
        interpreter = self.of[name]
        if name in [each.name for each in self.older]:
            of = {
                resource: [self._below(name, row)[-1] for row in rows]
                for resource, rows in self.rows.of.items()
                if resource in interpreter.checked.resources
            }
            interpreter.rows = replace(self.rows.copied(), of=of)
        return interpreter

    def _way(self, name: str | None) -> list[Older]:
        names = [each.name for each in self.older]
        return list(self.older[: names.index(name or "") + 1])

    def _below(self, name: str | None, row: Row) -> list[Row]:
        """The row in each version from the newest down to one."""
        found = [row]
        for each in self._way(name):
            fields = dict(found[-1].fields)
            for change in each.rows:
                if change.resource == row.resource.name:
                    fields = change.down(fields)
            found.append(replace(row, resource=each.checked.resources[row.resource.name], fields=fields))
        return found

    def _take(self, name: str, rows: Rows) -> None:
        """The rows as a request of an older version has left them are the rows of all."""
        found: dict[str, list[Row]] = {}
        for resource, several in rows.of.items():
            found[resource] = [self._above(name, row) for row in several]
        self.begin(replace(rows, of=found))

    def _above(self, name: str, row: Row) -> Row:
        before = self.rows.find(row.resource.name, row.key)
        below = None if before is None else self._below(name, before)
        if below is not None and before is not None and _is_as(below[-1], row):
            return before
        fields = dict(row.fields)
        way = self._way(name)
        for number, each in reversed(list(enumerate(way))):
            steps = [change for change in each.rows if change.resource == row.resource.name]
            was = None if below is None else dict(below[number].fields)
            befores = [was]
            for change in steps:
                befores.append(None if befores[-1] is None else change.down(befores[-1]))
            for change, earlier in reversed(list(zip(steps, befores, strict=False))):
                fields = change.up(fields, earlier)
        return replace(row, resource=self.checked.resources[row.resource.name], fields=fields)


def _has(of: Interpreter, request: Request, *kinds: type) -> bool:
    """Whether a version has the path of a request."""
    found = routes.find(of.checked, request.method, request.target.partition("?")[0])
    return isinstance(found, kinds or (routes.Found, routes.NotAllowed))


def _filled(name: Any, text: str) -> str:
    return quote(text, safe="") + (f":{name.after}" if name.after else "")


def _with_tags(headers: Mapping[str, str], before: str, after: str) -> dict[str, str]:
    """Entity tags are of a version: each begins with its name."""
    tags = ("etag", "if-match", "if-none-match")
    return {
        name: re.sub(f'(^|, ?){re.escape(before)}(?=[^"]+")', lambda found: found[1] + after, value)
        if name in tags
        else value
        for name, value in headers.items()
    }


def _headers_of(typed: Typed | None) -> list[str]:
    """The header fields that an expression reads."""
    if typed is None:
        return []
    if isinstance(typed, Select) and isinstance(typed.operand, Select) and typed.operand.name == "headers":
        return [typed.name]
    return list(dict.fromkeys(name for each in within(typed) for name in _headers_of(each)))


def _is_as(one: Row, other: Row) -> bool:
    return (one.fields, one.written, one.entered) == (other.fields, other.written, other.entered)


def moment_of(date: str) -> datetime:
    """The beginning of a day, UTC."""
    return datetime.fromisoformat(date).replace(tzinfo=UTC)
