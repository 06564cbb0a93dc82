"""Media types: what a client accepts, and what it says that it sends (RFC 9110 8.3 and 12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TYPE = re.compile(rf"[ \t]*({_TOKEN}/{_TOKEN})")
_PARAMETER = re.compile(rf"[ \t]*;[ \t]*(?:({_TOKEN})=({_TOKEN}|{_QUOTED}))?")
_END = re.compile(r"[ \t]*(?:,|$)")
_EMPTY = re.compile(r"[ \t,]*+")
_QUALITY = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")


def _element(field: str, at: int) -> tuple[str, dict[str, str], int] | None:
    """A media type (or range) with its parameters, and where it ends."""
    head = _TYPE.match(field, at)
    if head is None:
        return None
    parameters: dict[str, str] = {}
    at = head.end()
    while parameter := _PARAMETER.match(field, at):
        name, value = parameter.groups()
        if name is not None:
            parameters[name.lower()] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        at = parameter.end()
    return head[1].lower(), parameters, at


@lru_cache(256)
def sent(content_type: str) -> tuple[str, str | None] | None:
    """The media type of a Content-Type field and its charset, both in lower case; None: it cannot be read."""
    element = _element(content_type, 0)
    if element is None or content_type[element[2] :].strip(" \t"):
        return None
    charset = element[1].get("charset")
    return element[0], None if charset is None else charset.lower()


@lru_cache(256)
def parameter_sent(content_type: str, name: str) -> str | None:
    """A parameter of a Content-Type field; None: there is none."""
    element = _element(content_type, 0)
    return None if element is None else element[1].get(name)


@lru_cache(256)
def parameters_accepted(accept: str, name: str) -> tuple[str, ...]:
    """The values that a parameter has in the elements of an Accept field, the preferred one first; those that are
    refused (`q=0`) are not among them."""
    found: list[tuple[float, str]] = []
    for _, parameters in _elements(accept):
        quality = parameters.get("q", "1")
        if name in parameters and _QUALITY.fullmatch(quality) is not None and float(quality) > 0:
            found.append((-float(quality), parameters[name]))
    return tuple(dict.fromkeys(value for _, value in sorted(found, key=lambda each: each[0])))


def _elements(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The elements of an Accept field. One that cannot be read is passed over."""
    at = _past_empty(accept, 0)
    while at < len(accept):
        element = _element(accept, at)
        end = None if element is None else _END.match(accept, element[2])
        if element is None or end is None:
            comma = accept.find(",", at)
            at = len(accept) if comma < 0 else _past_empty(accept, comma)
            continue
        yield element[0], element[1]
        at = _past_empty(accept, end.end())


def _past_empty(accept: str, at: int) -> int:
    """Where the next element begins: empty ones are no elements (RFC 9110 5.6.1.2)."""
    found = _EMPTY.match(accept, at)
    return at if found is None else found.end()


@lru_cache(256)
def accepts(accept: str, offered: str) -> bool:
    """Whether an Accept field admits a media type. The most specific range decides, of equal ones that with the highest
    `q`, and `q=0` refuses. An element that cannot be read is passed over; a field without any other accepts everything,
    as no field does."""
    offered_type, offered_parameters, _ = _element(offered, 0) or (offered, {}, 0)
    best: tuple[int, float] | None = None
    elements = 0
    for range_, parameters in _elements(accept):
        quality = parameters.pop("q", "1")
        if _QUALITY.fullmatch(quality) is None:
            continue
        elements += 1
        specificity = _specificity(range_, parameters, offered_type, offered_parameters)
        if specificity is not None and (best is None or (specificity, float(quality)) > best):
            best = (specificity, float(quality))
    return elements == 0 or (best is not None and best[1] > 0)


def _specificity(
    range_: str, parameters: dict[str, str], offered: str, offered_parameters: dict[str, str]
) -> int | None:
    """How closely a range describes what is offered; None: not at all."""
    if range_ == "*/*":
        return 0
    if range_.endswith("/*"):
        return 1 if offered.startswith(range_[:-1]) else None
    if range_ != offered:
        return None
    # JSON is UTF-8 and has no charset (RFC 8259 11): asking for that one asks for what is there.
    wanted = {name: value for name, value in parameters.items() if (name, value.lower()) != ("charset", "utf-8")}
    return 2 + len(wanted) if wanted.items() <= offered_parameters.items() else None
