"""`list R`: the rows that the caller sees, filtered, sorted and in pages."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.checked.endpoints import Admission, Endpoint, Filter, Pages, SortKeys
from ninefold.checked.lists import growing, plainly
from ninefold.checked.resources import Resource
from ninefold.checked.ways import beside_rows
from ninefold.expressions.rewrite import substitute
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan.operations import FilterParameter, List, Paging, Sort
from ninefold.plan.places import Place
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.planner import inputs
from ninefold.planner.chosen import choices
from ninefold.planner.contents import Columns
from ninefold.planner.endpoints.rows import acted_on, answer, row_columns
from ninefold.planner.judge import judge
from ninefold.planner.perspective import Perspective
from ninefold.planner.places import by_key, stated, traced
from ninefold.planner.requirements import of_way, parents, permission_by_way
from ninefold.planner.which_rows import on_the_way, says_which
from ninefold.sql.fragment import TRUE, Fragment, all_of, bind, identifier, join
from ninefold.values import Integer, Row


def list_rows(endpoint: Endpoint, admission: Admission, perspective: Perspective) -> List:
    resource = acted_on(endpoint, perspective)
    columns = row_columns(resource, perspective)
    beside, source_beside = on_the_way([*beside_rows(endpoint.response)], endpoint, perspective, seen=True)
    head = Columns(perspective, beside, of_rows=columns)
    response = answer(endpoint, head, perspective)
    required = parents(endpoint, perspective)
    required += permission_by_way(admission, endpoint, resource, perspective)
    for each in endpoint.guards:
        broken = Condition("guard", resource.name, code=each.code, trace=traced(each.place))
        required.append(of_way(each.when, broken, endpoint, perspective))

    conditions = says_which(endpoint, columns.rows, perspective)
    # Said so, SQLite asks it once, and does not join it to the rows, whose order would be lost.
    conditions += ["(" + each.holds + ") IS TRUE" for each in required]
    seen = perspective.present(resource.name, resource.name)
    if seen is not None:
        conditions.append("(" + seen + ")")
    name = identifier(resource.name)
    source = " FROM " + perspective.source(resource.name) + f" AS {name} WHERE " + all_of(conditions)
    filters = filter_pieces(endpoint, columns, perspective)

    orders = _orders(endpoint, resource)
    sorts, sort_pieces, after_pieces = [], [], []
    for title, keys in orders.items():
        expressions = [(_field(resource, field), descending) for field, descending in keys]
        fragments = [(perspective.shown(each, columns.rows), each, descending) for each, descending in expressions]
        numbers = tuple(columns.add(each) for each, _ in expressions)
        sorts.append(Sort(title, numbers))
        order = " ORDER BY " + join(", ", [_ordered(f, e, d) for f, e, d in fragments] or [TRUE])
        sort_pieces.append(Piece(order.text, order.binds, f"sort {title}"))
        if endpoint.pages is not None and endpoint.pages.by == "cursor":
            after = " AND (" + _after(fragments) + ")"
            after_pieces.append(Piece(after.text, after.binds, f"after {title}"))

    paged = endpoint.pages is not None and endpoint.pages.by != "none"
    tail = []
    if paged:
        limit = " LIMIT " + bind(inputs.LIMIT)
        if endpoint.pages is not None and endpoint.pages.by in ("offset", "page"):
            limit = limit + " OFFSET " + bind(inputs.OFFSET)
        tail.append(Piece(limit.text, limit.binds))
    statement = Statement(
        (*columns.select(source), *filters, *after_pieces, *sort_pieces, *tail), tuple(columns.results)
    )
    count = None
    if endpoint.total:
        counted = "SELECT count(*)" + source
        count = Statement((Piece(counted.text, counted.binds), *filters), (ResultColumn("total", Integer()),))
    return List(
        resource=resource.name,
        response=response,
        select=statement,
        paging=_paging(endpoint, perspective),
        sorts=tuple(sorts),
        filters=filter_parameters(endpoint),
        sort_parameter=None if endpoint.sorts is None else endpoint.sorts.parameter,
        sort_trace=stated(perspective.checked.places, "endpoints", endpoint.key, "sorts"),
        count=count,
        judge=judge(Fragment("(SELECT 1)"), required, endpoint, resource, perspective) if required else None,
        head=Statement(head.select(" FROM " + source_beside), tuple(head.results)) if head.results else None,
        validator=endpoint.validator,
        choices=choices(endpoint),
        grows=growing(endpoint, resource, perspective.checked.row_rules),
    )


def _paging(endpoint: Endpoint, perspective: Perspective) -> Paging:
    pages = endpoint.pages
    if pages is None or pages.by == "none":
        return Paging(by="none")
    places = _page_places(endpoint, pages, perspective)
    return Paging(
        pages.by, pages.default, pages.largest, pages.size, pages.next, pages.start, pages.number, pages.first, places
    )


def _page_places(endpoint: Endpoint, pages: Pages, perspective: Perspective) -> dict[str, Place]:
    """Those of the list itself, and of all lists where it says nothing."""
    places, found = perspective.checked.places, dict[str, Place]()
    for path in (("limits", "pages"), ("endpoints", endpoint.key, "pages")):
        found |= by_key(places, ("default", "largest", "by", "parameters"), *path)
        found |= by_key(places, ("size", "next", "start", "number", "index"), *path, "parameters")
    # One name stands for both, as a list has but one of them.
    return found | ({"number": found["index"]} if pages.first == 0 else {})


def filter_parameters(endpoint: Endpoint) -> tuple[FilterParameter, ...]:
    return tuple(
        FilterParameter(each.name, each.type, each.default, each.written, traced(each.place))
        for each in endpoint.filters
    )


def filter_pieces(endpoint: Endpoint, columns: Columns, perspective: Perspective) -> list[Piece]:
    """What narrows the rows, each under its switch."""
    resource = acted_on(endpoint, perspective)
    return [_filter(each, resource, columns, perspective) for each in endpoint.filters]


def _filter(stated: Filter, resource: Resource, columns: Columns, perspective: Perspective) -> Piece:
    condition = substitute(plainly(stated.condition, resource), "value", inputs.filter_value(stated.name, stated.type))
    holds = " AND (" + perspective.shown(condition, columns.rows) + ")"
    return Piece(holds.text, holds.binds, f"filter {stated.name}")


def _orders(endpoint: Endpoint, resource: Resource) -> dict[str, SortKeys]:
    """Each order by its name: `""` is the default. The identifier is added where an order does not hold it, so
    that no two rows are equal."""
    stated: dict[str, SortKeys] = {"": () if endpoint.sorts is None else endpoint.sorts.default}
    if endpoint.sorts is not None and endpoint.sorts.parameter is not None:
        for keys in endpoint.sorts.offered:
            names = [(resource.fields[field].called or field, descending) for field, descending in keys]
            stated[",".join(f"-{name}" if descending else name for name, descending in names)] = keys
    return {title: _with_identifier(keys, resource) for title, keys in stated.items()}


def _with_identifier(keys: SortKeys, resource: Resource) -> SortKeys:
    named = {field for field, _ in keys}
    return (*keys, *((key, False) for key in resource.identifier if key not in named))


def _field(resource: Resource, name: str) -> Typed:
    field = resource.fields[name]
    through = "field" if field.computed is None else "computed"
    return Select(Variable(resource.name, Row(resource=resource.name)), name, field.type, through)  # type: ignore[arg-type]


def _ordered(fragment: Fragment, typed: Typed, descending: bool) -> Fragment:
    # SQLite puts nulls first in an ascending order; the language puts them last in every order.
    return fragment + (" DESC" if descending else " ASC") + (" NULLS LAST" if typed.type.nullable else "")


def _after(keys: Sequence[tuple[Fragment, Typed, bool]], index: int = 0) -> Fragment:
    """Rows that come after the cursor's in the order of `keys`: beyond it in the first key, or equal there and
    after it in the rest."""
    fragment, typed, descending = keys[index]
    value = bind(inputs.cursor_key(index, typed.type))
    beyond = fragment + (" < " if descending else " > ") + value
    if typed.type.nullable:
        beyond = "(" + beyond + " OR (" + fragment + " IS NULL AND " + value + " IS NOT NULL))"
    if index + 1 == len(keys):
        return beyond
    rest = "(" + _after(keys, index + 1) + ")"
    if typed.type.nullable:
        return beyond + " OR (" + fragment + " IS " + value + " AND " + rest + ")"
    # Said this way round, an index on the first key bounds the search.
    bound = fragment + (" <= " if descending else " >= ") + value
    return bound + " AND (" + beyond + " OR " + rest + ")"
