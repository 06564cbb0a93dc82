"""What the operator does with rows, outside of every route: the same operations that endpoints cause (law 9)."""

from __future__ import annotations

from typing import Any

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.plan.operations import List
from ninefold.plan.routes import Body
from ninefold.plan.writes import Create, Update


class Adding(msgspec.Struct, frozen=True):
    """`create R` for the operator. `body` reads an object with a member for each field that can be given; the
    response shows the row, and in it each token that was made for it, this once."""

    body: Body
    create: Create


class OperatorOperations(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The rows of one resource. They are planned for nobody's eyes but the operator's: no permission and no row rule
    takes part.

    `list` gives `{rows, total}`, and has a filter for each field that one value can be compared with. The fields in
    `secrets` are in no row, since no statement reads one; those in `sensitive` are to be masked unless they are asked
    for. `adding` None: nothing can be added, for the reasons in `blocked`.
    """

    resource: str
    list: List
    secrets: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    adding: Adding | None = None
    blocked: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row that the contract itself states: JSON values by field, the primary key among them."""

    resource: str
    values: dict[str, Any]
    trace: tuple[Place, ...] = ()


class Records(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rows that are there when the service begins, each after those that it refers to. One that is absent is added
    as the operator adds rows, by `adding` where records state the numbers that the service gives otherwise; one that
    states other values than it has is changed by the `update` of its resource in `changes`, whose path is the
    primary key."""

    rows: tuple[Record, ...]
    changes: dict[str, Update] = {}
    adding: dict[str, Adding] = {}
