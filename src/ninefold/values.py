"""The types of values, and the forms that a value of each type takes.

| type      | JSON                    | Python                | SQLite            | PostgreSQL               |
|-----------|-------------------------|-----------------------|-------------------|--------------------------|
| boolean   | true, false             | bool                  | INTEGER 0, 1      | boolean                  |
| integer   | -2^63 … 2^63-1          | int                   | INTEGER           | bigint                   |
| number    | a finite double         | float                 | REAL              | double precision         |
| text      | a string without U+0000 | str                   | TEXT              | text collate "C"         |
| timestamp | RFC 3339, UTC, 6 digits | str, the same text    | TEXT, the same    | text collate "C"         |
| array     | array                   | list                  | TEXT, JSON        | jsonb                    |
| object    | object                  | dict                  | TEXT, JSON        | jsonb                    |
| row       | the identifier's form   | the identifier's form | the identifier's  | the identifier's         |
| digest    | never                   | bytes, SHA-256        | BLOB              | bytea                    |

Stored forms sort alike on both databases: text by code point, a timestamp as its text (the width is fixed,
so the order of texts is the order of times), nulls last where a list is sorted. This table is a file format:
databases made by one version are read by the next.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class _Type(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True, kw_only=True):
    """`nullable`: the value may also be null, which is the same as having no value."""

    nullable: bool = False


class Boolean(_Type, frozen=True, tag="boolean"):
    pass


class Integer(_Type, frozen=True, tag="integer"):
    pass


class Number(_Type, frozen=True, tag="number"):
    pass


class Text(_Type, frozen=True, tag="text"):
    pass


class Timestamp(_Type, frozen=True, tag="timestamp"):
    pass


class Duration(_Type, frozen=True, tag="duration"):
    """A length of time in microseconds; it exists in expressions only and is never stored."""


class Digest(_Type, frozen=True, tag="digest"):
    """What is stored of a secret: it can be found by, and never read."""


class Array(_Type, frozen=True, tag="array"):
    items: Type


class Object(_Type, frozen=True, tag="object"):
    """`members` are those whose types are known; an object may have others."""

    members: dict[str, Type] = msgspec.field(default_factory=dict)


class Row(_Type, frozen=True, tag="row"):
    """A row of a resource. As a stored value it is the row's identifier."""

    resource: str


class Null(_Type, frozen=True, tag="null"):
    """The type of the literal `null`."""


class Anything(_Type, frozen=True, tag="anything"):
    """A JSON value of which the contract says no more."""


Type: TypeAlias = (
    Boolean | Integer | Number | Text | Timestamp | Duration | Digest | Array | Object | Row | Null | Anything
)
