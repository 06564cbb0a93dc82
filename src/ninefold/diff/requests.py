"""Requests as they are written in a file, one after another, as they go over the wire:

    # a comment
    POST /orders
    Authorization: Bearer {{ada}}
    Content-Type: application/json

    {"lines": []}

    HTTP 422
    Content-Type: application/problem+json
    !Location

    {"title": "{{*}}", "errors": [{"pointer": "/lines"}]}

- The response may be left out. `{{name}}` in it stands for whatever comes there, and in later requests for that.
  `{{*}}` is anything each time.
- In a request `{{letters 70000}}` is that many letters, and `{{nested 5000}}` an array that deep.
- In a request `{{SCHEME claim=value …}}` is a token with these claims, signed by the issuer of the scheme. A claim
  whose value is JSON is that value, any other a string.
- A line that begins with `@`, before a request, says what happens then: `@after PT31M`, so much time passes;
  `@times 21`, it comes so often, and the last one counts; `@unavailable`, the database takes no work; `@timed out`, it
  takes longer than the service waits; `@internal`, something fails; `@in progress`, the same request is on its way.
- `# not exercised: FACT: REASON` says of facts (`7 codes > busy > *`, as `ninefold ablate` prints them) why no request
  shows what they do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.values import Invalid, duration

Known: TypeAlias = dict[str, Any]
"""What the names in double braces stand for."""

Token: TypeAlias = Callable[[str, Mapping[str, Any]], str | None]
"""A token of a scheme with claims; None: the scheme has no tokens that could be signed here."""

HAPPENINGS = ("unavailable", "timed out", "internal", "in progress")

_REQUEST = re.compile(r"(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE|TRACE) (/.*|\*)$")
_RESPONSE = re.compile(r"HTTP ([1-5]\d\d)$")
_HAPPENING = re.compile(r"@(.+)$")
_TIMES = re.compile(r"times ([1-9][0-9]{0,2})$")
_EXCUSE = re.compile(r"# not exercised: (.+?): (.+)$")
NAME = re.compile(r"\{\{([^{}]+)\}\}")


class Unreadable(Exception):
    """A file of requests cannot be read as such; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Response:
    """What is expected. `absent` are headers that must not come."""

    status: int
    headers: tuple[tuple[str, str], ...]
    absent: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and what is expected of its response, if anything is. `after`: microseconds that pass before it;
    `happening`: what befalls it, one of HAPPENINGS."""

    line: int
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    content: str
    expected: Response | None = None
    after: int = 0
    happening: str | None = None


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why no request shows what some facts do. `facts`: a pattern of their addresses."""

    facts: str
    reason: str


def excuses(text: str) -> tuple[Excuse, ...]:
    """What a file says of facts that no request shows."""
    found = (_EXCUSE.match(line) for line in text.splitlines())
    return tuple(Excuse(match[1].strip(), match[2].strip()) for match in found if match)


def read_exchanges(text: str) -> list[Exchange]:
    """The exchanges of a file. Raises Unreadable."""
    found: list[Exchange] = []
    after, happening, times = 0, None, 1
    for block in _blocks(text):
        if told := _HAPPENING.match(block.first):
            if often := _TIMES.match(told[1].strip()):
                times = int(often[1])
            else:
                after, happening = _happening(told[1].strip(), block.line, after, happening)
        elif asked := _REQUEST.match(block.first):
            headers = tuple(_header(line, block.line) for line in block.headers)
            exchange = Exchange(block.line, asked[1], asked[2], headers, block.body, None, after, happening)
            found += [exchange] * times
            after, happening, times = 0, None, 1
        elif not found or found[-1].expected is not None:
            raise Unreadable(f"line {block.line}: a response without a request")
        else:
            found.append(_answered(found.pop(), block))
    return found


@dataclass(frozen=True, slots=True)
class _Block:
    """A request, a response or a happening: its first line, its headers, its body."""

    line: int
    first: str
    headers: tuple[str, ...]
    body: str


def _blocks(text: str) -> Iterator[_Block]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("#")]
    starts = [index for index, (_, line) in enumerate(lines) if _begins(line)]
    for number, line in lines[: starts[0] if starts else None]:
        if line.strip():
            raise Unreadable(f"line {number}: neither a request nor a response")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        head = [line for _, line in lines[start + 1 : end]]
        blank = next((index for index, line in enumerate(head) if not line.strip()), len(head))
        yield _Block(lines[start][0], lines[start][1], tuple(head[:blank]), "\n".join(head[blank:]).strip())


def _begins(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_REQUEST, _RESPONSE, _HAPPENING))


def _happening(word: str, line: int, after: int, happening: str | None) -> tuple[int, str | None]:
    if word.startswith("after "):
        try:
            return after + duration(word.removeprefix("after ").strip()), happening
        except Invalid:
            raise Unreadable(f"line {line}: `{word}` is not `after` and an ISO 8601 duration") from None
    if word not in HAPPENINGS:
        raise Unreadable(f"line {line}: `{word}` is none of after, times, {', '.join(HAPPENINGS)}")
    return after, word


def _answered(request: Exchange, block: _Block) -> Exchange:
    answered = _RESPONSE.match(block.first)
    assert answered is not None
    expected = Response(
        status=int(answered[1]),
        headers=tuple(_header(line, block.line) for line in block.headers if not line.startswith("!")),
        absent=tuple(line[1:] for line in block.headers if line.startswith("!")),
        body=block.body,
    )
    return Exchange(
        request.line, request.method, request.target, request.headers, request.content, expected, request.after,
        request.happening,
    )  # fmt: skip


def _header(line: str, number: int) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise Unreadable(f"line {number}: `{line}` is not a header")
    return name, value.strip()


# Names.


def filled(text: str, known: Mapping[str, Any], token: Token = lambda scheme, claims: None) -> str:
    """A text of a request with what its names stand for. Raises Unreadable."""

    def value(match: re.Match[str]) -> str:
        word, _, rest = match[1].partition(" ")
        if match[1] in known:
            return str(known[match[1]])
        if word == "letters" and rest.isdecimal():
            return "a" * int(rest)
        if word == "nested" and rest.isdecimal():
            return "[" * int(rest) + "]" * int(rest)
        signed = token(word, dict(map(_claim, rest.split())))
        if signed is None:
            raise Unreadable(f"nothing before has said what {match[0]} is")
        return signed

    return NAME.sub(value, text)


def _claim(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def learn(expected: Response, headers: Mapping[str, str], body: str, known: Known) -> None:
    """Take note of what the names of an expected response stand for in the one that came."""
    for name, text in expected.headers:
        text_matches(text, headers.get(name.lower(), ""), known)
    body_matches(expected.body, body, known)


# Comparing.


def body_matches(expected: str, came: str, known: Known) -> bool:
    """Whether a body is the one that is wanted: JSON as JSON, anything else as text."""
    if not expected or not came:
        return expected == came
    try:
        wanted = json.loads(expected)
    except ValueError:
        return text_matches(expected, came, known)
    try:
        return _matches(wanted, json.loads(came), known)
    except ValueError:
        return False


def _matches(wanted: Any, came: Any, known: Known) -> bool:
    """Whether a JSON value is the one that is wanted."""
    match wanted:
        case str():
            if whole := NAME.fullmatch(wanted):
                return whole[1] == "*" or same_json(known.setdefault(whole[1], came), came)
            return isinstance(came, str) and text_matches(wanted, came, known)
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
                and all(_matches(value, item, known) for value, item in zip(wanted, came, strict=True))
            )
        case _:
            return same_json(wanted, came)


def same_json(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are one number (RFC 8259), and `true` is none."""
    return isinstance(first, bool) is isinstance(second, bool) and bool(first == second)


def text_matches(wanted: str, came: str, known: Known) -> bool:
    """Whether a text is the one that is wanted, with names in it."""
    pattern, names, at = "", [], 0
    for match in NAME.finditer(wanted):
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
