"""Lists: which rows, in which order, which page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any
from urllib.parse import quote, unquote

from tests.reference.expressions import Fails, Reading, at_hand
from tests.reference.failures import Failure, invalid
from tests.reference.operations import filters_of, pages_of, sorts_of
from tests.reference.rows import Row
from tests.reference.values import Broken, from_text

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Order, SortKeys
from ninefold.values import Integer

Query = Mapping[str, Sequence[str]]
Keys = tuple[Any, ...]


@dataclass
class Page:
    """What a request asks of a list. `size` None: all of it. `after`: the keys of the row that the page begins
    behind."""

    filters: dict[str, Any] = field(default_factory=dict)
    order: SortKeys = ()
    size: int | None = None
    start: int = 0
    at: int = 0
    cursor: str | None = None
    after: Keys | None = None


def names(endpoint: Endpoint) -> set[str]:
    """The query parameters of pages."""
    return {each for each in _of_pages(endpoint) if each}


def _of_pages(endpoint: Endpoint) -> tuple[str | None, ...]:
    pages = pages_of(endpoint)
    if pages is None or pages.by == "none":
        return ()
    return (pages.size, pages.at)


def page_parameter(endpoint: Endpoint) -> str:
    pages = pages_of(endpoint)
    assert pages is not None and pages.at is not None
    return pages.at


def linked(target: str, name: str, text: str) -> str:
    """A request's path and query with another value of a parameter, which stands where it came first, or else last."""
    path, _, query = target.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    own = [at for at, pair in enumerate(pairs) if unquote(pair.partition("=")[0].replace("+", " ")) == name]
    new = f"{quote(name, safe='')}={quote(text, safe='')}"
    if not own:
        return path + "?" + "&".join([*pairs, new])
    pairs[own[0]] = new
    return path + "?" + "&".join(pair for at, pair in enumerate(pairs) if at not in own[1:])


def following(endpoint: Endpoint, page: Page) -> int:
    """What asks for the next page, where pages are counted."""
    pages = pages_of(endpoint)
    assert pages is not None and page.size is not None
    rows = page.start // page.size + 1 if pages.by == "page" else page.start + page.size
    return rows + pages.first


def previous(endpoint: Endpoint, page: Page) -> int | None:
    """What asks for the page before, where pages are counted and there is one."""
    if not page.size or page.start == 0:
        return None
    pages = pages_of(endpoint)
    assert pages is not None
    rows = page.start // page.size - 1 if pages.by == "page" else max(page.start - page.size, 0)
    return rows + pages.first


def asked(endpoint: Endpoint, query: Query, given: Mapping[str, Any], failures: list[Failure]) -> Page:
    """What is asked for; what is wrong with it goes to `failures`. `given`: the values of what is declared."""
    page = Page({each.name: given[each.name] for each in filters_of(endpoint) if each.name in given})
    _order(endpoint, given, page)
    pages = pages_of(endpoint)
    if pages is not None and pages.by != "none":
        if pages.said.get("clamps"):
            page.size = max(_whole(pages.size, query, None, None, pages.default, failures), pages.minimum)
            page.size = page.size if pages.maximum is None else min(page.size, pages.maximum)
        else:
            page.size = _whole(pages.size, query, pages.minimum, pages.maximum, pages.default, failures)
        if pages.by in ("offset", "page"):
            page.at = _whole(pages.at, query, pages.first, None, pages.first, failures)
            page.start = (page.at - pages.first) * (page.size if pages.by == "page" else 1)
        elif pages.at is not None and pages.at in query:
            if len(query[pages.at]) > 1:
                failures.append(invalid("query", pages.at, "repeated"))
            else:
                page.cursor = query[pages.at][0]
    return page


def _order(endpoint: Endpoint, given: Mapping[str, Any], page: Page) -> None:
    sorts = sorts_of(endpoint)
    if sorts is None:
        return
    page.order = sorts.default
    offered = {_called(order): order.keys for order in sorts.offered}
    if sorts.parameter is not None and sorts.parameter in given:
        chosen = given[sorts.parameter]
        names = [name for name in (chosen if isinstance(chosen, list) else [chosen]) if name in offered]
        page.order = tuple(key for name in names for key in offered[name]) if names else sorts.default
    if (reverse := sorts.reverse) is not None and reverse.parameter in given:
        if any(from_text(reverse.type, text) == given[reverse.parameter] for text in reverse.values):
            page.order = tuple((field, not descends) for field, descends in page.order)


def _called(order: Order) -> str:
    if order.name is not None:
        return order.name
    return ",".join(("-" if descends else "") + name for name, descends in order.keys)


def _whole(
    name: str | None, query: Query, least: int | None, largest: int | None, otherwise: int, failures: list[Failure]
) -> int:
    if name is None or name not in query:
        return otherwise
    if len(query[name]) > 1:
        failures.append(invalid("query", name, "repeated"))
        return otherwise
    try:
        value: int = from_text(Integer(), query[name][0])
    except Broken as broken:
        failures.append(invalid("query", name, broken.rule))
        return otherwise
    if least is not None and value < least:
        failures.append(invalid("query", name, "minimum"))
    elif largest is not None and value > largest:
        failures.append(invalid("query", name, "maximum"))
    return value


def filtered(rows: Sequence[Row], endpoint: Endpoint, page: Page, reading: Reading) -> list[Row]:
    """The rows for which every filter that takes part holds."""

    def passes(row: Row) -> bool:
        one = reading.also(**{row.resource.name: at_hand(row)})
        for each in filters_of(endpoint):
            if each.name in page.filters:
                value = page.filters[each.name]
                if value is None or not one.also(value=value).holds(each.condition):
                    return False
        return True

    return [row for row in rows if passes(row)]


def whole_order(order: SortKeys, identifier: Sequence[str]) -> SortKeys:
    """Ties are ordered by identifier, ascending (meanings "pages and filters" and "ties")."""
    named = {name for name, _ in order}
    return (*order, *((name, False) for name in identifier if name not in named))


def keys_of(row: Row, order: SortKeys, reading: Reading) -> Keys:
    return tuple(_key(row, name, reading) for name, _ in order)


def _key(row: Row, name: str, reading: Reading) -> Any:
    try:
        return reading.of_field(row, name, as_row=False)
    except Fails:
        return None


def compared(one: Keys, other: Keys, order: SortKeys) -> int:
    """Whether one comes before the other (-1), behind it (1), or neither (0). Nulls are last, whatever descends."""
    for (_, descends), a, b in zip(order, one, other, strict=True):
        if a == b:
            continue
        if a is None or b is None:
            return 1 if a is None else -1
        return -1 if (a < b) is not descends else 1
    return 0


def sorted_rows(rows: Sequence[Row], order: SortKeys, reading: Reading) -> list[Row]:
    def compare(one: Row, other: Row) -> int:
        return compared(keys_of(one, order, reading), keys_of(other, order, reading), order)

    return sorted(rows, key=cmp_to_key(compare))
