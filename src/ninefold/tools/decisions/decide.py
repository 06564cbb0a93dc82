"""What a document of an upgrade decides, as steps, and the shape that a database has after them: what is not decided
then is compared as it would have been without."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType

from msgspec import structs

from ninefold.diagnostics.codes import ANOTHER_DATABASE
from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.plan.schema import Schema
from ninefold.tools.decisions.contract import NO_WAYS, Made, Ways
from ninefold.tools.decisions.deciding import Deciding
from ninefold.tools.decisions.document import (
    NOTHING_DECIDED,
    Decided,
    Hide,
    Leave,
    MapState,
    Reissue,
    RemoveRows,
    Rename,
    Set,
)
from ninefold.tools.decisions.inherit import asked, give_older, inherit
from ninefold.upgrade.as_it_was import as_it_was
from ninefold.upgrade.changes import Outcome, changes
from ninefold.upgrade.shape import digest


def decide(
    decided: Decided,
    stored: Schema,
    wanted: Schema,
    given: Made = MappingProxyType({}),
    checks: Collection[str] = (),
    ways: Ways = NO_WAYS,
    is_empty: bool = False,
) -> tuple[Outcome, tuple[Diagnostic, ...]]:
    """What is decided over a database of shape `stored` that is to serve the schema `wanted`; what of it cannot be.
    `given`: what the contract decides itself, for the rows of which nothing else is decided. `checks`: those of its
    resources, by their names (`room.check.too_small`). `ways`: what part 9 says of older versions, which counts where
    nothing else is decided (`ninefold.tools.decisions.inherit`). `is_empty`: there are no rows; where the database has
    the form of the contract besides, made for it or by a service that asked nobody, nothing is left to decide."""
    if is_empty and changes(stored, wanted).same:
        decided = NOTHING_DECIDED
    setting = {each.field.text for each in decided.decisions if isinstance(each, Set)}
    deciding = Deciding(stored, wanted, checks, setting)
    made_for = decided.made_for
    if made_for is not None and made_for.text != digest(stored):
        message = f"this was written for a database of the shape {made_for.text}, and this one is of {digest(stored)}"
        deciding.found.append(Diagnostic(ANOTHER_DATABASE, message, (Label(made_for.span, ""),)))
    inherit(deciding, ways, decided)
    for number, each in enumerate(decided.decisions):
        match each:
            case Rename():
                rest = decided.decisions[number + 1 :]
                deciding.leaving = {later.old.text for later in rest if isinstance(later, Rename)}
                deciding.rename(each)
            case Set():
                deciding.set(each)
            case MapState():
                deciding.map(each)
            case Hide():
                deciding.hide(each)
            case RemoveRows():
                deciding.remove(each)
            case Leave():
                deciding.leave(each)
            case Reissue():
                deciding.reissue(each)
    # What the contract gives it gives of the row as it becomes.
    deciding.steps = list(as_it_was(deciding.steps))
    give_older(deciding, ways, decided)
    for (resource, field), value in given.items():
        deciding.give(resource, field, value)
    after = structs.replace(deciding.stored, tables=tuple(deciding.tables.values()))
    count = len(decided.decisions)
    outcome = Outcome(
        tuple(deciding.steps),
        after,
        tuple(deciding.lost),
        count,
        tuple(deciding.left),
        tuple(deciding.given),
        tuple(deciding.inherited),
        asked(deciding, ways, decided),
    )
    return outcome, tuple(deciding.found)
