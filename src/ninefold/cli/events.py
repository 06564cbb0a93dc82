"""`ninefold events FILE list|dead|replay|rotate`"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from ninefold.cli.commands import AcceptProposals, Database, File, Parameter, option
from ninefold.cli.document import plan_beside, planned
from ninefold.cli.leading_on import usable
from ninefold.cli.rows import check_limit, rows_as_text
from ninefold.cli.terminal import Unusable, remark, say
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.rows import counts, dead, logged, replay, rotate
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.opening import open_beside, open_to_read
from ninefold.runtime.store.protocol import Guest, Refused, Unavailable

How: TypeAlias = Callable[[str, ServicePlan], Guest | Refused]
Opening: TypeAlias = Callable[[How], Guest]


def events(
    file: File,
    action: Literal["list", "dead", "replay", "rotate"] = "list",
    /,
    *,
    after: int | None = None,
    limit: int | None = None,
    event: Annotated[Sequence[int], option()] = (),
    subscription: str | None = None,
    overlap: Annotated[int | None, Parameter(name="--overlap-hours")] = None,
    format: Literal["text", "json"] | None = None,
    database: Database = None,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Look at events and their delivery, and have them delivered again.

    `list` shows the last events of the log; `dead` the deliveries that were given up, and why. `replay` has these
    delivered again, or the events that are named, whatever became of them. `rotate` gives a subscription another secret
    and prints it, this once. All of it works while a service runs on the same database.

    Exit status: 0, 1 if the contract has errors, 2 if the database cannot be used, or what is named is not there.

        ninefold events orders.md
        ninefold events orders.md dead
        ninefold events orders.md replay
        ninefold events orders.md replay --event 17 --event 18
        ninefold events orders.md rotate --subscription 6f9619ff-8b86-4011-b42d-00c04fc964ff

    Parameters
    ----------
    action
        What is to be done.
    after
        Of `list`: only events behind this position.
    limit
        Of `list` and `dead`: how many are shown at most; 50, unless that is said.
    event
        Of `replay`: the position of an event; may be repeated.
    subscription
        Of `replay` and `rotate`: only this subscription. One whose receiver was gone is told of events again.
    overlap
        Of `rotate`: for so many hours deliveries are signed with the old secret as well; 24, unless that is said.
    format
        Of `list` and `dead`: `json` gives one object a line.
    """
    url, plan = plan_beside(*planned(file, accept_proposals), file, database)
    _only(action, after, limit, event or None, subscription, overlap, format)
    _check(plan, action, limit := 50 if limit is None else limit)
    opened = partial(_opened, plan, file, url)
    try:
        match action:
            case "list" | "dead":
                _show(plan, opened, action, after or 0, limit, format or "text")
            case "replay":
                _replay(plan, opened, event, subscription)
            case "rotate":
                _rotate(plan, opened, subscription, 24 if overlap is None else overlap)
    except Unavailable as error:
        raise Unusable(f"the database cannot be used: {error}") from None
    return 0


def _opened(plan: ServicePlan, file: str, url: str, how: How) -> Guest:
    return usable(how(url, plan), file, url)


_OF: Final = {
    "after": ("list",),
    "limit": ("list", "dead"),
    "event": ("replay",),
    "subscription": ("replay", "rotate"),
    "overlap-hours": ("rotate",),
    "format": ("list", "dead"),
}
"""Of which actions an option says something, in the order of the command's parameters."""


def _only(action: str, *given: object) -> None:
    """Refuses what says nothing of the action: dropped in silence, it would let something else be done."""
    for (name, actions), value in zip(_OF.items(), given, strict=True):
        if value is not None and action not in actions:
            of = " and ".join(f"`{each}`" for each in actions)
            raise Unusable(f"{action} takes no --{name}", f"it is of {of}")


def _check(plan: ServicePlan, action: str, limit: int) -> None:
    check_limit(limit)
    if not plan.schema.events or (action != "list" and not plan.schema.subscriptions):
        raise Unusable(f"the contract has no {'subscriptions' if plan.schema.events else 'events'}")


def _show(
    plan: ServicePlan,
    opened: Opening,
    action: Literal["list", "dead"],
    after: int,
    limit: int,
    format: Literal["text", "json"],
) -> None:
    with opened(open_to_read) as reading:
        found: list[dict[str, Any]]
        found = logged(reading, after, limit) if action == "list" else dead(reading, plan, limit)
        waiting, given_up = counts(reading) if plan.schema.subscriptions else (0, 0)
    if format == "json":
        sys.stdout.writelines(msgspec.json.encode(row).decode() + "\n" for row in found)
        return
    if found:
        say(rows_as_text(found, list(found[0])))
    if plan.schema.subscriptions:
        remark(f"{_counted(waiting)} still to be made, {given_up:,} given up")


def _replay(plan: ServicePlan, opened: Opening, positions: Sequence[int], subscription: str | None) -> None:
    with opened(open_beside) as session:
        made = replay(session, plan, Sources().now(), positions, subscription)
    if isinstance(made, str):
        raise Unusable(f"there is no {made}")
    say(f"{_counted(made)} to be made again")


def _rotate(plan: ServicePlan, opened: Opening, subscription: str | None, hours: int) -> None:
    if subscription is None:
        raise Unusable("rotate is for one subscription", "name it: --subscription ID")
    if plan.schema.subscribers is not None:
        raise Unusable(f"the secrets are those of the rows of `{plan.schema.subscribers[0]}`", "change it there")
    if not 0 <= hours <= 24 * 365:
        raise Unusable(f"--overlap-hours {hours} is not between 0 and a year")
    sources = Sources()
    until = Sources(clock=lambda: sources.clock() + timedelta(hours=hours)).now()
    with opened(open_beside) as session:
        secret = rotate(session, session.key("cursors"), subscription, until)
    if secret is None:
        raise Unusable(f"there is no subscription {subscription}")
    say(secret)


def _counted(count: int) -> str:
    return "1 delivery" if count == 1 else f"{count:,} deliveries"
