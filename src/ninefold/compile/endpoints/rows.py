"""What the verbs share: the row acted on, its columns, and the answer about it."""

from __future__ import annotations

import msgspec

from ninefold.checked import contents as checked
from ninefold.checked.operations import Operation, Read
from ninefold.checked.resources import Resource
from ninefold.checked.service import digest_of
from ninefold.compile.contents import Columns, response
from ninefold.compile.perspective import Perspective
from ninefold.compile.which_rows import WANTED, is_wanted, says_which
from ninefold.plan.responses import Response
from ninefold.plan.statement import Piece
from ninefold.sql.fragment import Fragment, all_of, identifier


def acted_on(operation: Operation, perspective: Perspective) -> Resource:
    assert operation.resource is not None
    return perspective.checked.resources[operation.resource]


def row_columns(resource: Resource, perspective: Perspective) -> Columns:
    """Columns over the row of a resource, which goes by the resource's own name in every statement."""
    return Columns(perspective, {resource.name: resource.name})


def pieces(text: Fragment) -> tuple[Piece, ...]:
    return (Piece(text.text, text.binds),)


def outer_join(resource: Resource, operation: Operation, perspective: Perspective) -> Fragment:
    """The row that the path names, or one row without values."""
    name = identifier(resource.name)
    if operation.several:
        return f"{WANTED} LEFT JOIN {name} AS {name} ON " + all_of(is_wanted(resource))
    rows = {resource.name: resource.name}
    found = says_which(operation, rows, perspective)
    return (
        f"{perspective.dialect.nothing} LEFT JOIN "
        + perspective.source(resource.name)
        + f" AS {name} ON "
        + all_of(found)
    )


def answer(
    operation: Operation, columns: Columns, perspective: Perspective, end: checked.Response | None = None
) -> Response:
    """The response (of one `end`, where there are two), with an entity tag where the endpoint states `etag`."""
    planned = response(end or operation.response, perspective.checked.produces, columns)
    if not operation.validator:
        return planned
    own = () if perspective.case is None else ("cases", perspective.case)
    places = perspective.checked.places
    etag = places.at("endpoints", operation.key, *own, "etag") or places.at("endpoints", operation.key, "etag")
    if not (operation.kind.reads_one or operation.kind.writes):
        return msgspec.structs.replace(
            planned,
            digested=True,
            tag_prefix=digest_of(repr(each.content) for each in operation.ends_well),
            places=planned.places | {"etag": etag},
        )
    if operation.resource is None:
        return planned
    if operation.kind.removes:  # what is gone has no entity tag; what is to go is named by one
        return msgspec.structs.replace(planned, tag_prefix=perspective.checked.tagged[operation.resource])
    revision = columns.add_revision(operation.resource)
    return msgspec.structs.replace(
        planned,
        revision=revision,
        digested=isinstance(operation, Read) and operation.digested,
        tag_prefix=perspective.checked.tagged[operation.resource],
        places=planned.places | {"etag": etag},
    )


def is_at_path_of(other: Operation, operation: Operation) -> bool:
    paths = ([getattr(segment, "text", segment) for segment in each.segments] for each in (other, operation))
    return next(paths) == next(paths)
