"""`list R`: the rows that the caller sees, filtered, sorted and in pages."""

from __future__ import annotations

from msgspec import structs

from ninefold.checked import operations as checked
from ninefold.checked.endpoints import Admission
from ninefold.checked.lists import Asked, beside_rows, growing
from ninefold.compile import inputs
from ninefold.compile.contents import Columns, choices
from ninefold.compile.endpoints.orders import orders_of
from ninefold.compile.endpoints.rows import acted_on, answer, row_columns
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import of_way, parents, permission_by_way
from ninefold.compile.which_rows import filter_parameters, filter_pieces, on_the_way, says_which
from ninefold.diagnostics.place import Place
from ninefold.language.declaration import members
from ninefold.language.limits import Pages
from ninefold.plan.operations import List, Paging, Reverse
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.fragment import Fragment, all_of, bind, identifier
from ninefold.values import Integer


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

    sorts, combined, order = orders_of(operation, resource, columns, perspective)
    reverse = operation.sorts.reverse
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
        combined=combined,
        reverse=None if reverse is None else Reverse(reverse.parameter, reverse.type, reverse.values),
        count=count,
        judge=judge(Fragment(perspective.dialect.nothing), required, operation, None, perspective)
        if required
        else None,
        head=Statement(head.select(" FROM " + source_beside), tuple(head.results)) if head.results else None,
        conditional=operation.is_conditional,
        choices=choices(operation),
    )


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
