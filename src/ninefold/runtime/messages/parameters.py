"""Query parameters and headers: from text to values, what they choose of a response, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.plan import operations as plan
from ninefold.plan.chosen import Choices, Expansion, Projection, Written, expanded, given, hidden
from ninefold.plan.responses import In
from ninefold.plan.routes import Parameter
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.problems import Failure, invalid
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.messages.violations import MOST, broken
from ninefold.values import GREATEST_INTEGER, Array, Integer, Invalid, Type, Value, from_text

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


def single(query: Query, name: str, type_: Type) -> Value | Refused:
    """The value of a parameter that is there, and is meant to be there once."""
    values = query[name]
    if len(values) > 1:
        return Refused("repeated")
    try:
        return from_text(type_, values[0])
    except Invalid as invalid:
        return Refused(invalid.rule)


def several(texts: Sequence[str], type_: Type, written: Written) -> Value | Refused:
    """The values of a parameter that gives several."""
    if written == "comma separated":
        if len(texts) > 1:
            return Refused("repeated")
        texts = texts[0].split(",")
    assert isinstance(type_, Array)
    return _several(texts, type_)


@dataclass(frozen=True, slots=True)
class Refused:
    """What a parameter is not a value for: the rule that it does not keep."""

    rule: str


class Declared:
    """The parameters of one endpoint that the contract gives schemas: those of the path, of the query, or headers."""

    __slots__ = ("_parameters", "_place", "parameters")

    def __init__(self, parameters: Iterable[Parameter], place: In) -> None:
        self.parameters = tuple(parameters)
        self._parameters = tuple((parameter, Schemas(parameter.schema)) for parameter in self.parameters)
        self._place = place

    def read(self, given: Query, failures: list[Failure]) -> dict[str, Value]:
        """The values of those that came; what is wrong is added to `failures`."""
        values: dict[str, Value] = {}
        for parameter, schemas in self._parameters:
            name = parameter.name
            rules: tuple[str, ...] = ()
            if name in given:
                value = (
                    _several(given[name], parameter.type)
                    if isinstance(parameter.type, Array)
                    else single(given, name, parameter.type)
                )
                if isinstance(value, Refused):
                    rules = (value.rule,)
                else:
                    values[name] = value
                    rules = tuple(dict.fromkeys(rule for _, rule in islice(broken(schemas, value), MOST)))
            elif parameter.required:
                rules = ("required",)
            failures.extend(invalid(self._place, name, rule) for rule in rules)
        return values


def _several(texts: Sequence[str], type_: Array) -> Value | Refused:
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


def _taken(query: Query, name: str, type_: Type, failures: list[Failure], written: Written | None = None) -> Value:
    value = single(query, name, type_) if written is None else several(query[name], type_, written)
    if isinstance(value, Refused):
        failures.append(invalid("query", name, value.rule))
        return None
    return value


class FilterReader:
    """The parameters that narrow rows. `names` are those that there are."""

    __slots__ = ("_defaults", "_filters", "names")

    def __init__(self, filters: Sequence[plan.FilterParameter]) -> None:
        self._filters = filters
        self._defaults: tuple[tuple[str, Callable[[Env], Value]], ...] = tuple(
            (each.name, compile(each.default)) for each in filters if each.default is not None
        )
        self.names = frozenset(each.name for each in filters)

    def read(self, query: Query, env: Env, failures: list[Failure]) -> dict[str, Value]:
        """The values of those that came, or that have a default; what is wrong is added to `failures`."""
        filters: dict[str, Value] = {}
        for each in self._filters:
            if each.name in query:
                value = _taken(query, each.name, each.type, failures, each.written)
                if value is not None:
                    filters[each.name] = value
        for name, default in self._defaults:
            if name not in query:
                try:
                    filters[name] = default(env)
                except EvaluationError:
                    # No condition holds for what has no value: nothing is found.
                    filters[name] = None
        return filters


class PageReader:
    """The parameters of a list: filters, order, page. `names` are those that the list knows."""

    __slots__ = ("_filters", "_paging", "_sort_parameter", "_sorts", "names")

    def __init__(self, operation: plan.List) -> None:
        self._filters = FilterReader(operation.filters)
        self._sorts = {sort.name: sort for sort in operation.sorts}
        self._sort_parameter = operation.sort_parameter
        self._paging = operation.paging
        paging = operation.paging
        own = (operation.sort_parameter, paging.size, paging.at)
        self.names = self._filters.names | {name for name in own if name is not None}

    def read(self, query: Query, env: Env, failures: list[Failure], request: Request) -> Page:
        """What is asked for; what is wrong with it is added to `failures`."""
        page = self._read(query, env, failures)
        if not self._paging.linked:
            return page
        return replace(page, around=around(request.path, request.query, self._paging.at or ""))

    def _read(self, query: Query, env: Env, failures: list[Failure]) -> Page:
        filters = self._filters.read(query, env, failures)
        paging, sort = self._paging, self._sort(query, failures)
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

    def _sort(self, query: Query, failures: list[Failure]) -> plan.Sort:
        default, name = self._sorts[""], self._sort_parameter
        if name is None or name not in query:
            return default
        given = query[name]
        if len(given) == 1 and given[0] and given[0] in self._sorts:
            return self._sorts[given[0]]
        failures.append(invalid("query", name, "repeated" if len(given) > 1 else "enum"))
        return default

    def _integer(
        self, query: Query, name: str | None, least: int, most: int | None, default: int, failures: list[Failure]
    ) -> int:
        if name is None or name not in query:
            return default
        value = _taken(query, name, Integer(), failures)
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
    """The choices of one operation. `names` are their query parameters."""

    __slots__ = ("_expansion", "_projection", "names")

    def __init__(self, choices: Choices) -> None:
        self._projection = choices.projection
        self._expansion = choices.expansion
        self.names = frozenset(each.parameter for each in given(choices))

    def read(self, query: Query, failures: list[Failure]) -> frozenset[str]:
        """The switches that are on; what is wrong with the parameters is added to `failures`."""
        projection, expansion = self._projection, self._expansion
        on: set[str] = set()
        left_out: set[str] = set()
        if projection is not None and projection.parameter in query:
            left_out = set(projection.members).difference(_named(projection, query, failures))
            on |= {hidden(name) for name in left_out}
        if expansion is not None and expansion.parameter in query:
            on |= {expanded(name) for name in _named(expansion, query, failures) if name not in left_out}
        return frozenset(on) if on else NOTHING


def _named(choice: Projection | Expansion, query: Query, failures: list[Failure]) -> Sequence[str]:
    """The names that a parameter gives, each once; what is wrong is a failure (rules `enum`, `uniqueItems`,
    `repeated`)."""
    names = _texts(query[choice.parameter], choice.written)
    rules = []
    if names is None:
        rules.append("repeated")
    elif not all(name in choice.offered for name in names):
        rules.append("enum")
    if names is not None and len(set(names)) < len(names):
        rules.append("uniqueItems")
    failures.extend(invalid("query", choice.parameter, rule) for rule in rules)
    return () if rules or names is None else names


def _texts(values: Sequence[str], written: Written | None) -> Sequence[str] | None:
    """The single names; None: there are several values where one is meant."""
    if written == "repeated":
        return values
    if len(values) > 1:
        return None
    return values[0].split(",") if written == "comma separated" else values
