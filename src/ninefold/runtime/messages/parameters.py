"""Query parameters and headers: from text to values, what they choose of a response, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from heapq import merge
from itertools import chain, islice
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from ninefold.diagnostics.frozen import dataclass
from ninefold.language.conditions import of_parameter
from ninefold.plan import operations as plan
from ninefold.plan.chosen import Choices, Expansion, Projection, expanded, hidden
from ninefold.plan.responses import In
from ninefold.plan.routes import Parameter
from ninefold.runtime.messages.forms import pairs
from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.orders import Order, Orders
from ninefold.runtime.messages.problems import Failure, invalid
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.messages.violations import MOST, Broken, Path, broken
from ninefold.runtime.messages.weight import per_byte
from ninefold.values import GREATEST_INTEGER, Array, Integer, Invalid, Type, Value, json_reader
from ninefold.values.texts import from_text

Query: TypeAlias = Mapping[str, Sequence[str]]
"""The values of each parameter, in the order in which they came."""


def parse_query(query: bytes) -> dict[str, list[str]]:
    """`a=1&b=%20&a=+` by name (WHATWG URL 5.1). Bytes that are not UTF-8 become surrogates, which no value admits."""
    parameters: dict[str, list[str]] = {}
    for name, value in pairs(query, "surrogateescape") if query else ():
        parameters.setdefault(name, []).append(value)
    return parameters


_AROUND_ITEMS: Final = " \t"
"""What may stand around the items of a header (RFC 9110 5.6.1), and does where one that came twice is one again."""

Given: TypeAlias = tuple[tuple[Value, ...], Iterable[Broken]]
"""The value of a parameter, if its text gives one, and the rules that it does not keep."""


class Declared:
    """The parameters of one endpoint that the contract declares: those of the path, of the query, or headers."""

    __slots__ = ("_called", "_parameters", "_place", "parameters", "per_byte")

    def __init__(self, parameters: Iterable[Parameter], place: In) -> None:
        self.parameters = tuple(parameters)
        self._parameters = tuple(
            (each, of_parameter("invalid", place, each.origin or each.name), _reader(each, place), _default(each))
            for each in self.parameters
        )
        self._called = tuple((each.name, each.origin) for each in self.parameters if each.origin is not None)
        """What an older version calls otherwise: expressions read it by the name of the document."""
        self._place = place
        self.per_byte = max((per_byte(each.schema) for each in self.parameters), default=0)

    def read(self, given: Query, failures: list[Failure]) -> dict[str, Value]:
        """The values of those that came, or that have a default; what is wrong is added to `failures`."""
        values: dict[str, Value] = {}
        for parameter, subject, reader, default in self._parameters:
            name = parameter.name
            if name in given:
                value, wrong = reader(given[name])
                failures += not_kept(self._place, name, wrong, subject)
            else:
                value = default
                if parameter.required and not default:
                    failures.append(invalid(self._place, name, "required", subject=subject))
            if value:
                values[name] = value[0]
        for name, origin in self._called:
            if name in values:
                values.setdefault(origin, values[name])
        return values


def not_kept(place: In, name: str, wrong: Iterable[Broken], subject: str | None = None) -> Iterator[Failure]:
    """A failure for each rule that the value of a parameter does not keep: one more than is told, so that it is told
    that there are more."""
    return (invalid(place, name, rule, path, subject) for path, rule in islice(wrong, MOST + 1))


def _reader(parameter: Parameter, place: In) -> Callable[[Sequence[str]], Given]:
    """What makes the value of a parameter from what a request gives."""
    type_, schemas = parameter.type, Schemas(parameter.schema)
    if parameter.is_json:
        return partial(_json, json_reader(type_), schemas)
    if not isinstance(type_, Array):
        return partial(_single, type_, schemas)
    if parameter.explode:
        return partial(_several, type_, schemas)
    return partial(_with_commas, type_, schemas, _AROUND_ITEMS if place == "header" else "")


def _default(parameter: Parameter) -> tuple[Value, ...]:
    return tuple(map(json_reader(parameter.type), parameter.default))


def _refused(rule: str, path: Path = ()) -> Given:
    return (), ((path, rule),)


def _single(type_: Type, schemas: Schemas, texts: Sequence[str]) -> Given:
    """The value of a parameter that is meant to be there once."""
    if len(texts) > 1:
        return _refused("repeated")
    try:
        value = from_text(type_, texts[0])
    except Invalid as invalid:
        return _refused(invalid.rule)
    return (value,), broken(schemas, value)


def _json(read: Callable[[Any], Value], schemas: Schemas, texts: Sequence[str]) -> Given:
    """The value of a parameter whose text is JSON, as that of a body would be."""
    if len(texts) > 1:
        return _refused("repeated")
    try:
        document = parse(texts[0].encode("utf-8", "surrogateescape"))
    except ValueError:
        return _refused("type")
    wrong = tuple(islice(broken(schemas, document), MOST + 1))
    if wrong:
        return (), wrong
    try:
        return (read(document),), ()
    except Invalid as invalid:
        return _refused(invalid.rule, invalid.path)


def _with_commas(type_: Array, schemas: Schemas, around: str, texts: Sequence[str]) -> Given:
    """The values in one text; an empty one is one empty item. `around`: characters that are no part of an item where
    they stand around it."""
    if len(texts) > 1:
        return _refused("repeated")
    return _several(type_, schemas, [each.strip(around) if around else each for each in texts[0].split(",")])


def _several(type_: Array, schemas: Schemas, texts: Sequence[str]) -> Given:
    """The values of several texts. Of one that gives none it is told that it does not, and of the others all else; of
    more than there may be, that alone."""
    values: list[Value] = []
    unread: dict[Path, str] = {}
    for index, text in enumerate(texts):
        try:
            values.append(from_text(type_.items, text))
        except Invalid as invalid:
            unread[(index,)] = invalid.rule
            values.append(text.encode("utf-8", "backslashreplace").decode())  # no schema is asked of half a pair
    found = broken(schemas, values)
    if not unread:
        return (values,), found
    first = tuple(islice(found, 1))
    if first == (((), "maxItems"),):
        return (), first
    others = (each for each in chain(first, found) if each[0][:1] not in unread)
    return (), merge(unread.items(), others, key=lambda each: each[0][:1])


_ANYTHING: Final = Schemas({})


@dataclass(frozen=True, slots=True)
class Page:
    """What a request asks of a list. `size` None: all of it. `start`: how many rows come before the page. `at`: its
    number, or its offset, as requests count. `cursor` is as sent."""

    order: Order
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
    written = filter(None, query.split(b"&"))
    for pair, (given, _) in zip(written, pairs(query, "surrogateescape"), strict=True):
        if given == name:
            came = True
        else:
            (after if came else before).append(pair)
    before.append(quote(name, safe="").encode() + b"=")
    first = quote(path, safe=_OF_A_REFERENCE) + "?" + quote(b"&".join(before), safe=_OF_A_REFERENCE)
    return first, quote(b"".join(b"&" + pair for pair in after), safe=_OF_A_REFERENCE)


def narrowing(filters: Sequence[plan.FilterParameter], values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the parameters that narrow rows, of those that have one."""
    return {each.name: values[each.name] for each in filters if each.name in values}


class PageReader:
    """What a request asks of a list: which rows, in which order, which page. `names`: the parameters of its pages."""

    __slots__ = ("_filters", "_orders", "_paging", "names")

    def __init__(self, operation: plan.List) -> None:
        self._filters = operation.filters
        self._orders = Orders(operation)
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
        paging, order = self._paging, self._orders.chosen(values)
        if paging.by == "none":
            return Page(order, filters=filters)
        size = self._size(query, failures)
        if paging.by == "cursor":
            return Page(order, size, cursor=self._cursor(query, failures), filters=filters)
        first = paging.first
        at = self._integer(query, paging.at, first, None, first, failures)
        # Where the database's integers end, there are no rows any more.
        start = min((at - first) * (size if paging.by == "page" else 1), GREATEST_INTEGER)
        return Page(order, size, start, at, None, filters)

    def _integer(
        self, query: Query, name: str | None, least: int | None, most: int | None, default: int, failures: list[Failure]
    ) -> int:
        if name is None or name not in query:
            return default
        found, wrong = _single(Integer(), _ANYTHING, query[name])
        failures.extend(invalid("query", name, rule) for _, rule in wrong)
        value = found[0] if found else None
        if not isinstance(value, int):
            return default
        if least is not None and value < least:
            failures.append(invalid("query", name, "minimum"))
        elif most is not None and value > most:
            failures.append(invalid("query", name, "maximum"))
        return value

    def _size(self, query: Query, failures: list[Failure]) -> int:
        """The size that is asked for, or the bound that it leaves, where that is taken instead."""
        paging = self._paging
        least, most = paging.minimum, paging.maximum
        if not paging.said.get("clamps"):
            return self._integer(query, paging.size, least, most, paging.default, failures)
        asked = self._integer(query, paging.size, None, None, paging.default, failures)
        return max(asked, least) if most is None else min(max(asked, least), most)

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
