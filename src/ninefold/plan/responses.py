"""What a response is made of. A content is a tree over the columns of a result and over typed expressions."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ninefold.expressions.tree import Typed


class _Content(msgspec.Struct, frozen=True, tag_field="content", omit_defaults=True):
    pass


class FromColumn(_Content, frozen=True, tag="column"):
    """The value of a column of the row. Without a value: `null` where `null_shown`, else left out."""

    column: int
    null_shown: bool = False


class FromExpression(_Content, frozen=True, tag="expression"):
    """The value of an expression that reads no row. Without a value: as above."""

    expression: Typed
    null_shown: bool = False


class ObjectOf(_Content, frozen=True, tag="object"):
    """A JSON object, members in written order. Where `present` names a column, a row without a value
    there has no such object: `null` where `null_shown`, else left out."""

    members: tuple[tuple[str, Content], ...]
    present: int | None = None
    null_shown: bool = False


class ArrayOf(_Content, frozen=True, tag="array"):
    """A JSON array written out."""

    items: tuple[Content, ...]


class EachRow(_Content, frozen=True, tag="rows"):
    """`page.items`: one element a row of the result."""

    item: Content


Content: TypeAlias = FromColumn | FromExpression | ObjectOf | ArrayOf | EachRow


class Response(msgspec.Struct, frozen=True, omit_defaults=True):
    """`content` None: no body and no media type. `revision` is the column of the row's revision where an
    entity tag is given; `tag_prefix` then tells apart what the same revision looked like under another contract."""

    status: int
    media_type: str | None = None
    content: Content | None = None
    headers: tuple[tuple[str, FromColumn | FromExpression], ...] = ()
    revision: int | None = None
    tag_prefix: str = ""


In: TypeAlias = Literal["body", "query", "path", "header"]
