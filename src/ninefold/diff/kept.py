"""The version of the newer contract that goes on as the older contract was, and whether all who rely on that are served
by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from msgspec import structs

from ninefold.diff.alone import Alone, Both
from ninefold.diff.meaning import OF_OLDER
from ninefold.diff.plain import plain
from ninefold.diff.sight import differing, sight
from ninefold.diff.verdicts import Audience, Effect
from ninefold.plan.limits import Limits
from ninefold.plan.versioning import Versions

_ALWAYS: Final[list[Any]] = [{}, None, True]
"""The dates of a version that is served without an end, and the service without versions."""


def kept(both: Both, alone: Alone, endpoints: Sequence[str]) -> str | None:
    """The version in which all of these endpoints are as they were; None: there is none, or it is the newest one."""
    name = both.once(_name)
    if name is None or not endpoints or not both.once(_is_named_alike):
        return None
    if both.once(_is_as_it_was):
        return name
    # Something else of the version is another: these endpoints of it may be what they were, by what is done.
    called = (both.before.current, name)
    pairs = [(both.before.routes.get((None, each)), both.after.routes.get((name, each))) for each in endpoints]
    pairs += [
        (both.before.rest[each], both.after.rest.get(f"{OF_OLDER}{name}"))
        for each in alone.felt.rest
        if each == "problems"
    ]
    is_said_of_all = any(
        side != "runs" and each not in _BY_VERSION and not each.startswith(OF_OLDER)
        for each, side in alone.felt.rest.items()
        if each != "limits" or _counts_otherwise(alone)
    )
    done = (was is now or (was and now and was.is_the_same_in(called, now, both.called)) for was, now in pairs)
    return name if not is_said_of_all and all(done) else None


_BY_VERSION: Final = ("problems", "versions")
"""What is said of all endpoints, and in each version by itself."""


def _counts_otherwise(alone: Alone) -> bool:
    """Whether limits are others beside the names of the endpoints that they are of: these have names of their own in
    each version."""
    plans = (alone.before, alone.plan)
    was, now = (None if each is None else _without_names(each.limits) for each in plans)
    return was is None or was != now


def _without_names(limits: Limits) -> Any:
    return plain(structs.replace(limits, rates=tuple(structs.replace(each, endpoints=()) for each in limits.rates)))


def _name(both: Both) -> str | None:
    """What the newer contract calls the older one: as this called its newest version; where there were no versions, as
    whoever names none is served."""
    was, now = both.old_plan.versions, both.new_plan.versions
    if now is None:
        return None
    name = was.current if was is not None else now.default if isinstance(now.default, str) else None
    dates = _ALWAYS if was is None else both.before.dates.get(was.current)
    return None if name is None or name == now.current or both.after.dates.get(name) != dates else name


def _is_named_alike(both: Both) -> bool:
    """Whether who names a version, as the older contract has it, still does."""
    was, now = both.old_plan.versions, both.new_plan.versions
    return was is None or (now is not None and (was.by, was.name) == (now.by, now.name))


def _is_as_it_was(both: Both) -> bool:
    """Whether all that callers see of that version is what they saw."""
    name = both.once(_name)
    other = None if name is None else both.new.of(name)
    return other is not None and not differing(sight(both.old.contract), sight(other.contract))


def is_kept_for_all(both: Both, name: str) -> bool:
    """Whether nobody is served by a version that has not been kept: not who names one, nor who names none."""
    was, now = both.old_plan.versions, both.new_plan.versions
    if now is None or was is None:
        return now is not None
    others = (each.name for each in was.versions if each.name != was.current)
    return _serves_alike(was, now, both, name) and all(map(both.seems_the_same, others))


def serves_by_default(both: Both, name: str) -> bool:
    """Whether who names no version is served by this one."""
    return both.new_plan.versions is not None and both.new_plan.versions.default == name


def _serves_alike(was: Versions, now: Versions, both: Both, name: str) -> bool:
    """Whether who names no version meets nothing of the newest one: it was refused, or still is, or it gets one that
    has been kept, or the name that the same expression gives. That it is another one, the line says which does."""
    if was.default is None or now.default is None:
        return True
    if isinstance(now.default, str):
        return now.default == name or both.seems_the_same(now.default)
    return bool(plain(was.default) == plain(now.default))


_SERVED: Final[tuple[Audience, ...]] = ("senders", "readers", "receivers")


def felt_by_nobody(found: Sequence[Effect], both: Both, name: str) -> tuple[Effect, ...]:
    """What comes of a difference where all are served by a version that has been kept: nothing for callers; nor for
    receivers, who are told as the version has it in which they asked for it, if there were versions then."""
    delivery = both.new_plan.delivery
    is_of_version = delivery is None or delivery.webhooks is None or delivery.unversioned in (None, name)
    whom = _SERVED if is_of_version else _SERVED[:2]
    return tuple(replace(each, verdict="compatible") if each.audience in whom else each for each in found)
