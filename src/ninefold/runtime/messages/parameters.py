"""Query parameters and headers: from text to values, what they choose of a response, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan import operations as plan
from ninefold.plan.chosen import Choices, Expansion, Projection, expanded, hidden
from ninefold.plan.responses import In
from ninefold.plan.routes import Parameter
from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.problems import Failure, invalid
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.messages.violations import MOST, broken
from ninefold.values import GREATEST_INTEGER, Array, Integer, Invalid, Type, Value, from_text, json_reader

Query: TypeAlias = Mapping[str, Sequence[str]]
"""The values of each parameter, in the order in which they came."""


def parse_query(query: bytes) -> dict[str, list[str]]:
    """`a=1&b=%20&a=+` by name (WHATWG URL 5.1). Bytes that are not UTF-8 become surrogates, which no value admits."""
    parameters: dict[str, list[str]] = {}
    if not query:
        return parameters
    for pair in query.decode("utf-8", "surrogateescape").split("&"):
        if pair:
            name, _, value = pair.partition("=")
            parameters.setdefault(_decoded(name), []).append(_decoded(value))
    return parameters


def _decoded(text: str) -> str:
    return unquote(text.replace("+", " "), errors="surrogateescape") if "%" in text or "+" in text else text


@dataclass(frozen=True, slots=True)
class Refused:
    """What a parameter is not a value for: the rule that it does not keep."""

    rule: str


class Declared:
    """The parameters of one endpoint that the contract declares: those of the path, of the query, or headers."""

    __slots__ = ("_parameters", "_place", "parameters")

    def __init__(self, parameters: Iterable[Parameter], place: In) -> None:
        self.parameters = tuple(parameters)
        self._parameters = tuple(
            (each, Schemas(each.schema), _reader(each), _default(each)) for each in self.parameters
        )
        self._place = place

    def read(self, given: Query, failures: list[Failure]) -> dict[str, Value]:
        """The values of those that came, or that have a default; what is wrong is added to `failures`."""
        values: dict[str, Value] = {}
        for parameter, schemas, reader, default in self._parameters:
            name = parameter.name
            rules: tuple[str, ...] = ()
            if name in given:
                value = reader(given[name])
                if isinstance(value, Refused):
                    rules = (value.rule,)
                else:
                    values[name] = value
                    rules = tuple(dict.fromkeys(rule for _, rule in islice(broken(schemas, value), MOST)))
            elif default:
                values[name] = default[0]
            elif parameter.required:
                rules = ("required",)
            failures.extend(invalid(self._place, name, rule) for rule in rules)
        return values


def _reader(parameter: Parameter) -> Callable[[Sequence[str]], Value | Refused]:
    """What makes the value of a parameter from what a request gives."""
    type_ = parameter.type
    if parameter.is_json:
        return partial(_json, json_reader(type_))
    if not isinstance(type_, Array):
        return partial(_single, type_)
    return partial(_several, type_) if parameter.explode else partial(_with_commas, type_)


def _default(parameter: Parameter) -> tuple[Value, ...]:
    return tuple(map(json_reader(parameter.type), parameter.default))


def _single(type_: Type, texts: Sequence[str]) -> Value | Refused:
    """The value of a parameter that is meant to be there once."""
    if len(texts) > 1:
        return Refused("repeated")
    try:
        return from_text(type_, texts[0])
    except Invalid as invalid:
        return Refused(invalid.rule)


def _json(read: Callable[[Any], Value], texts: Sequence[str]) -> Value | Refused:
    """The value of a parameter whose text is JSON, as that of a body would be."""
    if len(texts) > 1:
        return Refused("repeated")
    try:
        return read(parse(texts[0].encode("utf-8", "surrogateescape")))
    except Invalid as invalid:
        return Refused(invalid.rule)
    except ValueError:
        return Refused("type")


def _with_commas(type_: Array, texts: Sequence[str]) -> Value | Refused:
    """The values in one text; an empty one is one empty item."""
    return Refused("repeated") if len(texts) > 1 else _several(type_, texts[0].split(","))


def _several(type_: Array, texts: Sequence[str]) -> Value | Refused:
    try:
        return [from_text(type_.items, text) for text in texts]
    except Invalid as invalid:
        return Refused(invalid.rule)


@dataclass(frozen=True, slots=True)
class Page:
    """What a request asks of a list. `size` None: all of it. `start`: how many rows come before the page. `at`: its
    number, or its offset, as requests count. `cursor` is as sent."""

    sort: plan.Sort
    size: int | None = None
    start: int = 0
    at: int = 0
    cursor: str | None = None
    filters: dict[str, Value] = field(default_factory=dict)
    around: tuple[str, str] | None = None
    """What `around` gives of the request, where a response leads to other pages."""


_OF_A_REFERENCE: Final = "!$&'()*+,;=:@/?%-._~"
"""What stands in the path and the query of a reference as it is (RFC 3986, 3.3 and 3.4), a `%` of an escape with it."""


def around(path: bytes, query: bytes, name: str) -> tuple[str, str]:
    """What stands before and after the value of a parameter in the path and query of a request: every other parameter
    is as it came. Where it did not come it stands at the end; where it came more than once, where it came first."""
    before, after, came = list[bytes](), list[bytes](), False
    for pair in query.split(b"&") if query else ():
        if _decoded(pair.partition(b"=")[0].decode("utf-8", "surrogateescape")) == name:
            came = True
        elif pair:
            (after if came else before).append(pair)
    before.append(quote(name, safe="").encode() + b"=")
    first = quote(path, safe=_OF_A_REFERENCE) + "?" + quote(b"&".join(before), safe=_OF_A_REFERENCE)
    return first, quote(b"".join(b"&" + pair for pair in after), safe=_OF_A_REFERENCE)


def narrowing(filters: Sequence[plan.FilterParameter], values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the parameters that narrow rows, of those that have one."""
    return {each.name: values[each.name] for each in filters if each.name in values}


class PageReader:
    """What a request asks of a list: which rows, in which order, which page. `names`: the parameters of its pages."""

    __slots__ = ("_filters", "_paging", "_sort_parameter", "_sorts", "names")

    def __init__(self, operation: plan.List) -> None:
        self._filters = operation.filters
        self._sorts = {sort.name: sort for sort in operation.sorts}
        self._sort_parameter = operation.sort_parameter
        self._paging = operation.paging
        paging = operation.paging
        self.names = frozenset(name for name in (paging.size, paging.at) if name is not None)

    def read(self, values: Mapping[str, Value], query: Query, failures: list[Failure], request: Request) -> Page:
        """What is asked for; what is wrong with it is added to `failures`. `values`: of the declared parameters."""
        page = self._read(values, query, failures)
        if not self._paging.linked:
            return page
        return replace(page, around=around(request.path, request.query, self._paging.at or ""))

    def _read(self, values: Mapping[str, Value], query: Query, failures: list[Failure]) -> Page:
        filters = narrowing(self._filters, values)
        paging, sort = self._paging, self._sort(values)
        if paging.by == "none":
            return Page(sort, filters=filters)
        size = self._integer(query, paging.size, paging.minimum, paging.maximum, paging.default, failures)
        if paging.by == "cursor":
            return Page(sort, size, cursor=self._cursor(query, failures), filters=filters)
        first = paging.first
        at = self._integer(query, paging.at, first, None, first, failures)
        # Where the database's integers end, there are no rows any more.
        start = min((at - first) * (size if paging.by == "page" else 1), GREATEST_INTEGER)
        return Page(sort, size, start, at, None, filters)

    def _sort(self, values: Mapping[str, Value]) -> plan.Sort:
        chosen = values.get(self._sort_parameter) if self._sort_parameter is not None else None
        # What is no order that can be chosen has been refused.
        return self._sorts[chosen] if isinstance(chosen, str) and chosen in self._sorts else self._sorts[""]

    def _integer(
        self, query: Query, name: str | None, least: int, most: int | None, default: int, failures: list[Failure]
    ) -> int:
        if name is None or name not in query:
            return default
        value = _single(Integer(), query[name])
        if isinstance(value, Refused):
            failures.append(invalid("query", name, value.rule))
        if not isinstance(value, int):
            return default
        if value < least:
            failures.append(invalid("query", name, "minimum"))
        elif most is not None and value > most:
            failures.append(invalid("query", name, "maximum"))
        return value

    def _cursor(self, query: Query, failures: list[Failure]) -> str | None:
        name = self._paging.at
        if name is None or name not in query:
            return None
        given = query[name]
        if len(given) > 1:
            failures.append(invalid("query", name, "repeated"))
            return None
        return given[0]

    def not_ours(self) -> Failure:
        """The failure of a cursor that the service did not make for this list."""
        return invalid("query", self._paging.at or "", "format")


NOTHING: frozenset[str] = frozenset()


class Chooser:
    """The choices of one operation."""

    __slots__ = ("_expansion", "_projection")

    def __init__(self, choices: Choices) -> None:
        self._projection = choices.projection
        self._expansion = choices.expansion

    def switches(self, values: Mapping[str, Value]) -> frozenset[str]:
        """Those that are on, by the values of the parameters. What is not offered has been refused."""
        projection, expansion = self._projection, self._expansion
        on: set[str] = set()
        left_out: set[str] = set()
        if projection is not None and projection.parameter in values:
            left_out = set(projection.members).difference(_names(values, projection))
            on |= {hidden(name) for name in left_out}
        if expansion is not None and expansion.parameter in values:
            on |= {expanded(name) for name in _names(values, expansion) if name not in left_out}
        return frozenset(on) if on else NOTHING


def _names(values: Mapping[str, Value], choice: Projection | Expansion) -> list[str]:
    named = values[choice.parameter]
    return [each for each in named if each in choice.offered] if isinstance(named, list) else []
