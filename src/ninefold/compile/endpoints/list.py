"""`list R`: the rows that the caller sees, filtered, sorted and in pages."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ninefold.checked import operations as checked
from ninefold.checked.endpoints import Admission
from ninefold.checked.lists import Asked, beside_rows, growing, title
from ninefold.checked.operations import SortKeys
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.contents import Columns, choices
from ninefold.compile.endpoints.rows import acted_on, answer, row_columns
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import of_way, parents, permission_by_way
from ninefold.compile.which_rows import filter_parameters, filter_pieces, on_the_way, says_which
from ninefold.diagnostics.place import Place
from ninefold.expressions.reads import computed_by
from ninefold.expressions.tree import Select, Typed, Variable, words
from ninefold.language.declaration import members
from ninefold.language.limits import Pages
from ninefold.plan.operations import List, Paging, Sort
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, all_of, bind, identifier, join
from ninefold.values import Integer, Row


def listing(asked: Asked, admission: Admission, perspective: Perspective) -> List:
    """A list, with what makes it cost the more, the more rows there are, whoever asks for it."""
    rows = list_rows(asked.list, admission, perspective)
    resource = acted_on(asked.list, perspective)
    return structs.replace(rows, grows=growing(asked, resource, perspective.checked.row_rules))


def list_rows(operation: checked.List, admission: Admission, perspective: Perspective) -> List:
    resource = acted_on(operation, perspective)
    columns = row_columns(resource, perspective)
    beside, source_beside = on_the_way([*beside_rows(operation.response)], operation, perspective, seen=True)
    head = Columns(perspective, beside, of_rows=columns)
    response = answer(operation, head, perspective)
    required = parents(operation, perspective)
    required += permission_by_way(admission, operation, resource, perspective)
    for each in operation.guards:
        broken = Condition("check", resource.name, code=each.code, trace=(each.place,))
        required.append(of_way(each.that, broken, operation, perspective))

    conditions = says_which(operation, columns.rows, perspective)
    # Said so, SQLite asks it once, and does not join it to the rows, whose order would be lost.
    conditions += ["(" + each.holds + ") IS TRUE" for each in required]
    seen = perspective.present(resource.name, resource.name)
    if seen is not None:
        conditions.append("(" + seen + ")")
    name = identifier(resource.name)
    source = " FROM " + perspective.source(resource.name) + f" AS {name} WHERE " + all_of(conditions)
    filters = filter_pieces(operation, columns.rows, perspective)

    sorts, order = _sorted(operation, resource, columns, perspective)
    statement = Statement((*columns.select(source), *filters, *order, *_part(operation)), tuple(columns.results))
    count = None
    if operation.total:
        counted = "SELECT count(*)" + source
        count = Statement((Piece(counted.text, counted.binds), *filters), (ResultColumn("total", Integer()),))
    return List(
        resource=resource.name,
        response=response,
        select=statement,
        paging=_paging(operation, perspective),
        sorts=sorts,
        filters=filter_parameters(operation),
        sort_parameter=operation.sorts.parameter,
        sort_trace=perspective.checked.places.at("endpoints", operation.key, "sort"),
        count=count,
        judge=judge(Fragment(perspective.dialect.nothing), required, operation, None, perspective)
        if required
        else None,
        head=Statement(head.select(" FROM " + source_beside), tuple(head.results)) if head.results else None,
        conditional=operation.is_conditional,
        choices=choices(operation),
    )


def _sorted(
    operation: checked.List, resource: Resource, columns: Columns, perspective: Perspective
) -> tuple[tuple[Sort, ...], tuple[Piece, ...]]:
    """The orders that may be asked for, and the pieces of the statement that put the rows into each, behind those that
    begin after the last row of the page before."""
    sorts, orders, after = list[Sort](), list[Piece](), list[Piece]()
    for keys, (name, *aliases) in _orders(operation, resource).items():
        expressions = [(_field(resource, field), descending) for field, descending in keys]
        fragments = [(perspective.shown(each, columns.rows), each, descending) for each, descending in expressions]
        bound_to = _bound_to(resource, expressions, perspective) if operation.pages.by == "cursor" else ()
        sorts.append(Sort(name, tuple(columns.add(each) for each, _ in expressions), tuple(aliases), bound_to))
        order = _order(fragments, perspective.dialect)
        orders.append(Piece(order.text, order.binds, f"sort {name}"))
        if operation.pages.by == "cursor":
            behind = " AND (" + _after(fragments, perspective.dialect) + ")"
            after.append(Piece(behind.text, behind.binds, f"after {name}"))
    return tuple(sorts), (*after, *orders)


def _bound_to(resource: Resource, keys: Sequence[tuple[Typed, bool]], perspective: Perspective) -> tuple[str, ...]:
    """What tells an order from every other one: the case whose list it is of, the resource, each key with its direction
    and the type that is stored of it, and what is computed for them. It is the same on each database, and in each build
    that makes the same of the contract."""
    told = [perspective.case or "", resource.name]
    for typed, descending in keys:
        assert isinstance(typed, Select)
        stored = perspective.stored(typed.type).__struct_config__.tag
        told.append(f"{'-' if descending else ''}{typed.name} {stored}{' or null' if typed.type.nullable else ''}")
    model = perspective.checked.model
    computed = {name: made for typed, _ in keys for name, made in computed_by(typed, model).items()}
    return (*told, *(f"{name} = {words(made)}" for name, made in computed.items()))


def _part(operation: checked.List) -> tuple[Piece, ...]:
    """How many of the rows, and from where."""
    if operation.pages.by == "none":
        return ()
    limit = " LIMIT " + bind(inputs.LIMIT)
    if operation.pages.by in ("offset", "page"):
        limit = limit + " OFFSET " + bind(inputs.OFFSET)
    return (Piece(limit.text, limit.binds),)


def _paging(operation: checked.List, perspective: Perspective) -> Paging:
    pages = operation.pages
    if pages.by == "none":
        return Paging(by="none")
    places = _page_places(operation, perspective)
    return Paging(
        pages.by,
        pages.default,
        pages.minimum,
        pages.maximum,
        pages.size,
        pages.at,
        pages.first,
        places,
        operation.linked,
        said=dict(pages.said),
    )


def _page_places(operation: checked.List, perspective: Perspective) -> dict[str, Place]:
    """Those of the list itself, and of all lists where it says nothing."""
    places, found = perspective.checked.places, dict[str, Place]()
    for path in (("limits", "pages"), ("endpoints", operation.key, "pages")):
        found |= places.by_key([each.name for each in members(Pages)], *path)
    return found


def _orders(operation: checked.List, resource: Resource) -> dict[SortKeys, list[str]]:
    """Each order with its names: `""` is the default. The primary key is added where an order does not hold it, so
    that no two rows are equal; what is the same then is one order."""
    stated: dict[str, SortKeys] = {"": operation.sorts.default}
    if operation.sorts.parameter is not None:
        stated |= {title(keys, resource): keys for keys in operation.sorts.offered}
    orders: dict[SortKeys, list[str]] = {}
    for name, keys in stated.items():
        orders.setdefault(_with_identifier(keys, resource), []).append(name)
    return orders


def _with_identifier(keys: SortKeys, resource: Resource) -> SortKeys:
    named = {field for field, _ in keys}
    return (*keys, *((key, False) for key in resource.primary_key if key not in named))


def _field(resource: Resource, name: str) -> Typed:
    field = resource.fields[name]
    through = "field" if field.computed is None else "computed"
    return Select(Variable(resource.name, Row(resource=resource.name)), name, field.type, through)  # type: ignore[arg-type]


def _order(keys: Sequence[tuple[Fragment, Typed, bool]], dialect: Dialect) -> Fragment:
    return " ORDER BY " + join(", ", [_ordered(*key) for key in keys] or [Fragment(dialect.any_order)])


def _ordered(fragment: Fragment, typed: Typed, descending: bool) -> Fragment:
    # SQLite puts nulls first in an ascending order; the language puts them last in every order.
    return fragment + (" DESC" if descending else " ASC") + (" NULLS LAST" if typed.type.nullable else "")


def _after(keys: Sequence[tuple[Fragment, Typed, bool]], dialect: Dialect, index: int = 0) -> Fragment:
    """Rows that come after the cursor's in the order of `keys`: beyond it in the first key, or equal there and
    after it in the rest."""
    fragment, typed, descending = keys[index]
    value = bind(inputs.cursor_key(index, typed.type))
    beyond = fragment + (" < " if descending else " > ") + value
    if typed.type.nullable:
        beyond = "(" + beyond + " OR (" + fragment + " IS NULL AND " + value + " IS NOT NULL))"
    if index + 1 == len(keys):
        return beyond
    rest = "(" + _after(keys, dialect, index + 1) + ")"
    if typed.type.nullable:
        return beyond + " OR (" + fragment + dialect.alike + value + " AND " + rest + ")"
    # Said this way round, an index on the first key bounds the search.
    bound = fragment + (" <= " if descending else " >= ") + value
    return bound + " AND (" + beyond + " OR " + rest + ")"
