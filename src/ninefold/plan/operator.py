"""What the operator does with rows, outside of every route: the same operations that endpoints cause (law 9)."""

from __future__ import annotations

import msgspec

from ninefold.plan.operations import List, Write
from ninefold.plan.routes import Body


class Adding(msgspec.Struct, frozen=True):
    """`create R` for the operator. `body` reads an object with a member for each field that can be given; the
    response shows the row, and in it each token that was made for it, this once."""

    body: Body
    create: Write


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
