"""The keys of endpoints: a method, and a path with names in braces."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, TypeAlias

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NOT_AN_ENDPOINT, SAME_ROUTE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Fact, value_of
from ninefold.language.leaves import SEGMENT
from ninefold.language.parameters import Parameter
from ninefold.language.reading import Reading, quoted
from ninefold.syntax.nodes import Scalar

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""What an endpoint's key may begin with. HEAD and OPTIONS come from HTTP itself (RFC 9110)."""

WITHOUT_CONTENT = frozenset({"GET", "HEAD", "DELETE"})
"""The methods for which RFC 9110 gives content no meaning: no question asks for their body."""

_KEY: Final = regex.compile(r"(\S+) (/\S*)")
_FROM_HTTP: Final = ("HEAD", "OPTIONS", "TRACE", "CONNECT")
_NAME: Final = regex.compile(r"\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\}(?::([A-Za-z0-9._~-]+))?")
_COLON: Final = regex.compile(r":([A-Za-z_][A-Za-z0-9_]*)|<(?:[a-z]+:)?([A-Za-z_][A-Za-z0-9_]*)>")


@dataclass(frozen=True, slots=True)
class Literal:
    """A path segment that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class PathName:
    """`{id}`, or `{article.slug}`: a field that says which row, alone or with others of the path, or a way through
    references to one. `after`: the literal behind the colon of `{id}:retry`."""

    names: tuple[str, ...]
    span: Span
    after: str = ""

    def led(self, resource: str | None, fields: Collection[str]) -> tuple[str, ...]:
        """The names that lead from the row of a resource, which has these fields: its own may stand before them."""
        is_first = len(self.names) > 1 and self.names[0] == resource and resource not in fields
        return self.names[1:] if is_first else self.names


@dataclass(frozen=True, slots=True)
class PathValue:
    """`{year}`: what `path` declares, a value of the request that names no row by itself."""

    name: str
    span: Span
    after: str = ""


Segment: TypeAlias = Literal | PathName | PathValue


def shape_of(segment: Segment) -> str:
    """A segment, its name aside: no literal has a brace."""
    if isinstance(segment, Literal):
        return segment.text
    return f"{{}}:{segment.after}" if segment.after else "{}"


def with_values(segments: tuple[Segment, ...], path: Fact[tuple[Parameter, ...]] | None) -> tuple[Segment, ...]:
    """Segments in which what `path` declares is a value, and no other name is."""
    declared = {(each.name,) for each in value_of(path) or ()}

    def known(segment: Segment) -> Segment:
        match segment:
            case PathName(names=names, span=span, after=after) if names in declared:
                return PathValue(names[0], span, after)
            case PathValue(name=name, span=span, after=after) if (name,) not in declared:
                return PathName((name,), span, after)
            case _:
                return segment

    return tuple(map(known, segments))


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    segments: tuple[Segment, ...]


def route(r: Reading, key: Scalar) -> Route | None:
    """The method and the segments of an endpoint's key; says what is wrong with it."""
    found = _KEY.fullmatch(key.text)
    if found is None:
        _not_a_key(r, key)
        return None
    method, path = found[1], found[2]
    right = True
    if method not in METHODS:
        right = False
        _wrong_method(r, key, method, path)
    segments: list[Segment] = []
    at = len(method) + 1
    for written in path[1:].split("/") if path != "/" else []:
        at += 1
        segment = _segment(r, key, written, at)
        if segment is None:
            right = False
        else:
            right = _named_once(r, key, segment, segments) and right
            segments.append(segment)
        at += len(written)
    return Route(method, tuple(segments)) if right else None


def is_meant(r: Reading, key: Scalar, words: Collection[str]) -> bool:
    """Whether a key is meant to be an endpoint's; says that another is unknown, and none of the `words` of part 4."""
    if "/" in key.text or (" " in key.text.strip() and key.text.split()[0].upper() in METHODS):
        return True
    help = r.did_you_mean(key.text, words) or ("an endpoint is a method and a path: `GET /orders/{id}`",)
    r.unknown(key, "", tuple(words), help)
    return False


def _not_a_key(r: Reading, key: Scalar) -> None:
    method, _, path = key.text.partition(" ")
    if method.startswith("/"):
        help = f"write the method before the path: `GET {method}`"
    elif method.upper() in METHODS and path and " " not in path.strip():
        help = f"write `{method.upper()} /{path.strip().lstrip('/')}`"
    else:
        help = "an endpoint is a method and a path: `GET /orders/{id}`"
    r.say(NOT_AN_ENDPOINT, f"{quoted(key.text)} is not an endpoint", Label(key.span), help=(help,))


def _wrong_method(r: Reading, key: Scalar, method: str, path: str) -> None:
    place = key.part(0, len(method))
    if method in _FROM_HTTP:
        r.say(
            NOT_AN_ENDPOINT,
            f"{method} is not stated in a contract",
            Label(place),
            help=("HEAD and OPTIONS are answered as HTTP says, from the other methods of the path",),
        )
    elif method.upper() in METHODS:
        r.say(
            NOT_AN_ENDPOINT,
            f"{quoted(method)} is not a method",
            Label(place),
            help=(f"methods are in capitals: `{method.upper()} {path}`",),
        )
    else:
        r.say(
            NOT_AN_ENDPOINT,
            f"{quoted(method)} is not a method",
            Label(place),
            help=r.did_you_mean(method, METHODS) or ("the methods are " + ", ".join(METHODS),),
        )


def _segment(r: Reading, key: Scalar, written: str, at: int) -> Segment | None:
    """The segment that is `written` at an offset of the key's text."""
    place = key.part(at, at + len(written))
    if name := _NAME.fullmatch(written):
        return PathName(tuple(name[1].split(".")), place, name[2] or "")
    colon = _COLON.fullmatch(written)
    if written in (".", ".."):
        # A client takes these out of a URL before it sends it (RFC 3986, 5.2.4).
        message, help = f"no request has `{written}` in its path", "write the path as it is without"
    elif colon is None and SEGMENT.fullmatch(written):
        return Literal(written)
    elif written == "" and at == len(key.text) and not key.text.endswith("//"):
        return Literal(written)  # `/orders/` is another path than `/orders` (RFC 3986, section 3.3)
    elif colon is not None:
        message, help = f"`{written}` is not how a path has a name", f"write `{{{colon[1] or colon[2]}}}`"
    elif written == "":
        place = key.part(at - 1, at)
        message, help = "a segment of the path is empty", "write one `/` between two segments"
    elif "?" in written or "#" in written:
        message, help = "a path ends before `?`", "parameters are stated under `query`"
    elif "{" in written or "}" in written:
        message = f"{quoted(written)} is neither a literal segment nor one name"
        help = (
            "a name takes a whole segment: `/{id}/`, or `{article.slug}` through references; or all of it before a "
            "colon: `{id}:retry`"
        )
    else:
        message = f"{quoted(written)} has characters that a path cannot have"
        help = "others are written percent-encoded (RFC 3986, 2.1)"
    r.say(NOT_AN_ENDPOINT, message, Label(place), help=(help,))
    return None


def _named_once(r: Reading, key: Scalar, segment: Segment, before: list[Segment]) -> bool:
    """Whether a path says for the first time what it names: two values for one field could not both be meant."""
    if not isinstance(segment, PathName):
        return True
    for other in before:
        if isinstance(other, PathName) and other.names == segment.names:
            r.say(
                NOT_AN_ENDPOINT,
                f"{quoted(key.text)} names `{{{'.'.join(segment.names)}}}` twice",
                Label(segment.span, "again"),
                Label(other.span, "first here"),
            )
            return False
    return True


def distinct(r: Reading, routes: list[tuple[Scalar, Route]]) -> None:
    """Says which endpoints are the same method and path, names in braces aside."""
    first: dict[tuple[str, ...], Scalar] = {}
    for key, each in routes:
        shape = (each.method, *map(shape_of, each.segments))
        if (earlier := first.setdefault(shape, key)) is not key:
            r.say(
                SAME_ROUTE,
                f"{quoted(key.text)} is the same method and path as {quoted(earlier.text)}",
                Label(key.span, "the same"),
                Label(earlier.span, "first here"),
            )
