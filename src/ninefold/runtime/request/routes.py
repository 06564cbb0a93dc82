"""From a version, a method and a path to an endpoint, and what a version tells of itself.

Each version has routes and problems of its own; what a request asks for is decided before anything else of it is looked
at. That one is retired, or unknown, is a condition like others: what it precedes, and what precedes it, the contract
says.

A path without names is looked up in a dictionary. The others are looked up by their literal segments, in a dictionary
for each way in which literals and names follow one another, where a literal segment comes before a name; only then is
it asked for the method (meaning "paths"). However many paths there are, it takes as long. Of a path with a name and a
literal behind it (`{id}:retry`), it is asked before: it comes before a plain name for its own methods alone. A path
is compared as its *canonical form*: every segment decoded, then `/`, `%` and what came as `%3A` encoded again, so
that `%2F` stays inside its segment, `/%6Frders` is `/orders`, and no `%3A` is the colon before a literal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.plan import versioning as plan
from ninefold.plan.routes import PathParameter, Segment
from ninefold.runtime.messages import media_types
from ninefold.runtime.messages.message import Carries, Request, carries
from ninefold.runtime.messages.parameters import Query
from ninefold.runtime.messages.problems import Problems
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.paths import (
    AFTER,
    COLON,
    Named,
    Placed,
    beginning,
    canonical,
    decoded,
    encoded,
    pattern,
    places_of,
    plain,
)


@dataclass(frozen=True, slots=True)
class Version:
    """A version made ready. `carries`: what its responses do that are of no endpoint of its own; None: nothing.
    `retired`: seconds since 1970 from which on it is not served. `known` is false of what a request is answered by that
    asks for no version that there is; `served`, where the way back to it is not shown."""

    routes: Routes[Endpoint]
    problems: Problems
    name: str | None = None
    carries: Carries | None = None
    retired: int | None = None
    known: bool = True
    served: bool = True

    def is_retired(self, now: datetime) -> bool:
        return self.retired is not None and now.timestamp() >= self.retired

    def carried_at(self, endpoint: Endpoint) -> Carries | None:
        """What each response at an endpoint carries. One of another version answers what asks for none that is served:
        what it says is not said of that."""
        return endpoint.carries if endpoint.key and self.known and self.served else self.carries


class Versions:
    """The versions of a service; one alone, where its contract states none."""

    def __init__(self, base: tuple[str, ...], stated: plan.Versions | None, versions: Sequence[Version]) -> None:
        """`versions`, newest first."""
        self.newest = versions[0]
        self._base = "".join("/" + encoded(segment) for segment in base)
        self._stated = stated
        self._all = {each.name: each for each in versions}
        # What no version has asked for tells nothing of any version, but that answers differ by it.
        of_all = None if stated is None else carries(stated.carries)
        stated_default = None if stated is None else stated.default
        default = self._all.get(stated_default) if isinstance(stated_default, str) else None
        self._unknown = replace(self.newest, known=False, carries=of_all, retired=None)
        self._default = default
        self._pin = Pin(stated_default) if isinstance(stated_default, plan.Pin) else None

    @property
    def stated(self) -> bool:
        """Whether a request may say of which version it is."""
        return self._stated is not None

    @property
    def in_path(self) -> bool:
        """Whether the path says of which version a request is."""
        return self._stated is not None and self._stated.by == "path"

    @property
    def under(self) -> int:
        """Characters of what all paths begin with."""
        return len(self._base)

    def endpoints(self) -> Iterator[Endpoint]:
        """Those of all versions."""
        for each in self._all.values():
            yield from each.routes.endpoints

    def depends(self, request: Request, query: Query) -> bool:
        """Whether the version of a request depends on who calls: it names none."""
        if self._pin is None or self._stated is None:
            return False
        if self.in_path:
            text = self._under_base(request)
            return text is not None and self._within(text)[0] not in self._all
        return self._named(self._stated, request, query) is None

    def pinned(self, request: Request, env: Env) -> Version:
        """The version of a request that names none. `env`: the values that expressions read, who calls among them."""
        name = None if self._pin is None else self._pin.name(request, env)
        return self._unknown if name is None else self._all.get(name, self._unknown)

    def for_anyone(self, request: Request, query: Query) -> bool:
        """Whether a request that names no version asks for what every version that has it has for `anyone` alone: then
        nobody is its caller, whichever version it is given."""
        matches = [self.find(request, query, each)[1] for each in self._all.values()]
        found = [each.endpoint for each in matches if isinstance(each, Found) and not each.endpoint.blocked]
        return bool(found) and all(each.for_anyone for each in found)

    def allowed(self, request: Request) -> bytes | None:
        """What some version allows at a path: browsers ask without a credential, of a caller whose version is not known
        then (https://fetch.spec.whatwg.org/#cors-preflight-fetch). None: no version has the path."""
        found = (each.routes.find(request.method, request.path) for each in self._all.values())
        values = [each.allow for each in found if isinstance(each, NotAllowed)]
        return together(values) if values else None

    def find(self, request: Request, query: Query, pinned: Version | None = None) -> tuple[Version, Match[Endpoint]]:
        """The version that a request asks for, and what its method and path are there. `pinned`: which one, if it names
        none."""
        stated, default = self._stated, pinned or self._default
        if self.in_path:
            return self._in_path(request, default)
        version = self.newest if stated is None else self._named(stated, request, query)
        version = version or default or self._unknown
        return version, version.routes.find(request.method, request.path)

    def _named(self, stated: plan.Versions, request: Request, query: Query) -> Version | None:
        """Which one a header, a parameter or a media type names; None: there is no name."""
        match stated.by:
            case "header":
                named = request.headers.get(stated.name.lower())
            case "query":
                # A parameter that is given twice names nothing that there is.
                given = query.get(stated.name)
                named = None if given is None else given[0] if len(given) == 1 else ""
            case _:
                return self._in_media_types(stated.name.lower(), request)
        return None if named is None else self._all.get(named, self._unknown)

    def _in_media_types(self, parameter: str, request: Request) -> Version | None:
        """Accept asks for a version, Content-Type says in which one the body is: they are the same. Of several that are
        accepted, the preferred one counts that there is."""
        sent = media_types.parameter_sent(request.headers.get("content-type", ""), parameter)
        accepted = media_types.parameters_accepted(request.headers.get("accept", ""), parameter)
        if not accepted:
            return None if sent is None else self._all.get(sent, self._unknown)
        known = [self._all[name] for name in accepted if name in self._all and sent in (None, name)]
        return known[0] if known else self._unknown

    def _under_base(self, request: Request) -> str | None:
        """The canonical form of a path; of what is no path, that of its segments up to the one behind the base. None:
        it is not under the base."""
        text = beginning(request.path, self._base.count("/") + 1)
        return text if text is not None and (text + "/").startswith(self._base + "/") else None

    def _within(self, text: str) -> tuple[str, str, str]:
        """The first segment behind the base, the slash behind it and the rest."""
        return text[len(self._base) + 1 :].partition("/")

    def _in_path(self, request: Request, default: Version | None) -> tuple[Version, Match[Endpoint]]:
        """The segment behind the base. A path without one is of the default version; what would be a path under a
        version is one under a version that there is not."""
        text = self._under_base(request)
        if text is None:
            return default or self._unknown, NO_SUCH_PATH
        name, slash, rest = self._within(text)
        version = self._all.get(name)
        if canonical(request.path) is None:
            return version or default or self._unknown, NO_SUCH_PATH
        if version is not None:
            return version, version.routes.at(request.method, f"{self._base}{slash}{rest}" or "/")
        if default is not None:
            found = default.routes.at(request.method, text)
            if not isinstance(found, NoSuchPath):
                return default, found
        would = [each.routes.at(request.method, f"{self._base}{slash}{rest}" or "/") for each in self._all.values()]
        there = [each for each in would if not isinstance(each, NoSuchPath)]
        there.sort(key=lambda each: not isinstance(each, Found))
        return (self._unknown, there[0]) if there else (default or self._unknown, NO_SUCH_PATH)


class Pin:
    """What gives the version of a request that names none, made ready."""

    def __init__(self, planned: plan.Pin) -> None:
        self._value = compile(planned.value)
        self._headers = planned.headers

    def name(self, request: Request, env: Env) -> str | None:
        """None: the expression has no value."""
        sent = {name: request.headers[name.lower()] for name in self._headers if name.lower() in request.headers}
        try:
            value = self._value({**env, "request": {"headers": sent}})
        except EvaluationError:
            return None
        return value if isinstance(value, str) else None


# ── From a method and a path to a route ───────────────────────────────────────────────────────────────────────

E = TypeVar("E")


class Found(Struct, Generic[E], frozen=True):
    """`values` are the texts of the path's names, decoded, in the order in which they stand there."""

    endpoint: E
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoSuchPath:
    pass


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The path is there, with other methods: the value of `Allow` (RFC 9110 10.2.1)."""

    allow: bytes


Match: TypeAlias = Found[E] | NoSuchPath | NotAllowed

NO_SUCH_PATH = NoSuchPath()


class Routes(Generic[E]):
    """All the routes of a service. HEAD is served by GET (RFC 9110 9.3.2)."""

    def __init__(self, routes: Iterable[tuple[str, Sequence[Segment], E]]) -> None:
        """`routes`: method, segments, and what is found there."""
        by_shape: dict[str, tuple[Sequence[Segment], dict[str, E]]] = {}
        methods: set[str] = set()
        self.endpoints: list[E] = []
        for method, segments, endpoint in routes:
            methods.add(method)
            self.endpoints.append(endpoint)
            by_shape.setdefault("".join(map(pattern, segments)) or "/", (segments, {}))[1][method] = endpoint
        self._allow = _allow(methods)
        self._paths = paths = [(segments, _Path(served, _allow(served))) for segments, served in by_shape.values()]
        self._literal = {
            "/" + "/".join(encoded(str(segment)) for segment in segments): path
            for segments, path in paths
            if not any(isinstance(segment, PathParameter) for segment in segments)
        }
        self._after = sorted(
            (
                (places_of(segments), re.compile("".join(map(pattern, segments))), path)
                for segments, path in paths
                if any(isinstance(each, PathParameter) and each.after for each in segments)
            ),
            key=lambda each: each[0],
        )
        with_literals = {id(path) for _, _, path in self._after}
        named = [each for each in paths if any(isinstance(segment, PathParameter) for segment in each[0])]
        named = [each for each in named if id(each[1]) not in with_literals]
        self._named: dict[int, list[Named[_Path[E]]]] = {}
        # From the left, a literal segment beats a name; the first way in which there is a path is taken.
        for places in sorted({places_of(segments) for segments, _ in named}):
            alike = [each for each in named if places_of(each[0]) == places]
            self._named.setdefault(len(places) + 1, []).append(Named(places, alike))

    def find(self, method: str, raw_path: bytes) -> Match[E]:
        text = canonical(raw_path)
        return NO_SUCH_PATH if text is None else self.at(method, text)

    def at(self, method: str, text: str) -> Match[E]:
        """The same for a path in its canonical form."""
        plain = text.replace(COLON, ":") if COLON in text else text
        found = self._path(plain)
        asked = "GET" if method == "HEAD" else method
        if self._after and (found is None or found[2]):
            return self._at_any(asked, text, found)
        if found is None:
            return NO_SUCH_PATH
        path, values, _ = found
        endpoint = path.served.get(asked)
        return NotAllowed(path.allow) if endpoint is None else Found(endpoint, values)

    def _at_any(self, method: str, text: str, plain: _Found[E] | None) -> Match[E]:
        """The same where a literal may stand behind a name: what has the method, from the left a literal segment before
        such a name, and this one before a plain name; a path without such a name has what is left."""
        candidates: list[_Found[E]] = [] if plain is None else [plain]
        for places, alike, path in self._after:
            match = alike.fullmatch(text)
            if match is not None:
                candidates.append((path, tuple(map(decoded, match.groups())), places))
        candidates.sort(key=lambda each: each[2])
        allowed: list[bytes] = []
        for path, values, places in candidates:
            endpoint = path.served.get(method)
            if endpoint is not None:
                return Found(endpoint, values)
            allowed.append(path.allow)
            if AFTER not in places:
                break
        return NotAllowed(together(allowed)) if allowed else NO_SUCH_PATH

    def plain(self, endpoint: E) -> re.Pattern[str] | None:
        """Paths as sent that are an endpoint's whatever else there is, with a group for each name: most of its own.
        None: none is known to be."""
        for segments, path in self._paths:
            if any(each is endpoint for each in path.served.values()):
                return plain(segments, [each for each, _ in self._paths if len(each) == len(segments)])
        return None

    @property
    def allow(self) -> bytes:
        """Every method that the service has: the answer to `OPTIONS *` (RFC 9110 9.3.7)."""
        return self._allow

    def _path(self, text: str) -> _Found[E] | None:
        """The path that a text is of, but those with a literal behind a name; the texts of its names; and where they
        stand. A path without names has none."""
        literal = self._literal.get(text)
        if literal is not None:
            return literal, (), ()
        segments = text.split("/")
        for each in self._named.get(len(segments), ()):
            found = each.path(text, segments)
            if found is not None:
                return found
        return None


@dataclass(frozen=True, slots=True)
class _Path(Generic[E]):
    """What is found at one path, by method, and its `Allow`."""

    served: dict[str, E]
    allow: bytes


_Found: TypeAlias = Placed[_Path[E]]


def together(allowed: Iterable[bytes]) -> bytes:
    """What any of these values of `Allow` allows."""
    return _allow({name for value in allowed for name in value.decode("ascii").split(", ")})


def _allow(methods: Iterable[str]) -> bytes:
    names = set(methods) | {"OPTIONS"}
    if "GET" in names:
        names.add("HEAD")
    return ", ".join(sorted(names)).encode("ascii")
