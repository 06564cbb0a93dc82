"""What stands in another order and says the same: what is first is done first, or is told of first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.alone import Alone, Both
from ninefold.diff.changes import Change
from ninefold.diff.verdicts import WHO, Effect, Promise, effects, few, side_of
from ninefold.language.conditions import Step
from ninefold.language.key import Side
from ninefold.plan.problems import Problems, names, rank
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import of_versions, refusals

_TAKEN: Final = frozenset(("body", "query", "request headers", "properties"))
"""Keys of what requests give, or of what stands in it: all of it is looked at whatever its order."""


def of_order(change: Change, alone: Alone, both: Both, promise: Promise) -> Iterator[Effect]:
    """Of a change that is nothing but another order."""
    if _TAKEN & {*change.key.path.split(".")}:
        if _tells_of_one(both.old_plan) or _tells_of_one(both.new_plan):
            yield Effect("readers", "look", None, "where several values are wrong, another one is told of")
        return
    yield from effects(side_of(change.part, change.key.path), "unproved", promise)
    if "tells" in alone.felt.sides:
        yield from effects("tells", "unproved", promise, said="events arise in another order")


OF_NO_ROUTE: Final = ("no such path", "method not allowed")
"""What is refused before there is an endpoint."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A condition that is told before others now, and was behind them, or the other way round (`is_before`), at these
    endpoints, where both may hold."""

    condition: str
    others: tuple[str, ...]
    endpoints: tuple[str, ...]
    is_before: bool

    @property
    def said(self) -> str:
        ways = ("before", "behind") if self.is_before else ("behind", "before")
        return (
            f"`{self.condition}` is told {ways[0]} {', '.join(f'`{each}`' for each in self.others)}, and was {ways[1]}"
        )


def of_precedence(alone: Alone, both: Both, side: Side, promise: Promise) -> Iterator[Effect]:
    """Of another `precedence`."""
    found = moved(alone.before, alone.plan or both.new_plan)
    for each in found:
        yield from effects(side, "unproved", promise, said=f"{few(each.endpoints)}: {each.said}")
    if not found:
        yield Effect(WHO[side], "compatible", None, "no endpoint can meet both of what changed places")


NOWHERE: Final = "a path, or a method, that is not there"
"""In the place of an endpoint."""


def moved(old: ServicePlan, new: ServicePlan, version: str | None = None) -> tuple[Moved, ...]:
    """What another `precedence` does, as few conditions as it takes to say it, each with all others that it passed.
    `version`: None is the newest."""
    left = dict[tuple[str, str], list[str]]()
    before, after = (_met(each, version) for each in (old, new))
    for key in (each for each in after if each in before):
        was, now = before[key], after[key]
        known = [each for each in was if each in now]
        for one, other in combinations(sorted(known, key=now.__getitem__), 2):
            if was[one] > was[other] and now[one] < now[other] and one[1] != other[1]:
                left.setdefault((one[0], other[0]), []).append(key)
    found: list[Moved] = []
    while left:
        passed = Counter(
            (each, is_before) for pair in left for each, is_before in zip(pair, (True, False), strict=True)
        )
        (condition, is_before), _ = passed.most_common(1)[0]
        own = {pair: left[pair] for pair in left if pair[0 if is_before else 1] == condition}
        by_place: dict[tuple[str, ...], list[str]] = {}
        for pair, endpoints in own.items():
            by_place.setdefault(tuple(dict.fromkeys(endpoints)), []).append(pair[1 if is_before else 0])
            del left[pair]
        found += [Moved(condition, tuple(others), at, is_before) for at, others in by_place.items()]
    return tuple(found)


_Told: TypeAlias = tuple[str, str]
"""A condition as it is placed, and what tells it: its code, or its status."""


def _met(plan: ServicePlan, version: str | None) -> dict[str, dict[_Told, int]]:
    """The place of each condition that requests may meet, by endpoint; where there is none, that of each which all may
    meet beside those that say so."""
    versions = () if plan.versions is None else plan.versions.versions
    own = next((each for each in versions if each.name == version), None)
    routes, problems = (plan.routes, plan.problems) if own is None else (own.routes, own.problems or plan.problems)
    served = [each for each in routes if isinstance(each, Served)]
    found = {each.key: _ranks((*refusals(each, plan), *of_versions(plan, None)), problems) for each in served}
    every = [set(each) for each in found.values()]
    nowhere = _ranks([Refusal(each, Step.ROUTE) for each in OF_NO_ROUTE], problems)
    by_all = {each: place for ranks in found.values() for each, place in ranks.items()} if every else {}
    found[NOWHERE] = nowhere | {each: by_all[each] for each in set.intersection(*every)} if every else nowhere
    return found


def _ranks(found: Iterable[Refusal], problems: Problems) -> dict[_Told, int]:
    ranks, order = dict[_Told, int](), {each: at for at, each in enumerate(problems.precedence)}
    for each in found:
        called = names(each.condition, each.subject)
        code = each.code or next((problems.conditions[name] for name in called if name in problems.conditions), None)
        told = str(problems.statuses.get(each.condition)) if code is None else code
        place = rank(each.condition, each.subject, each.code is not None, problems.conditions, order)
        ranks[next((name for name in called if name in order), each.condition), told] = place
    return ranks


def _tells_of_one(plan: ServicePlan) -> bool:
    """Whether a value that is wrong has a code of its own: of several the first one is told of."""
    own = (each for route in plan.routes if isinstance(route, Served) for each in route.errors)
    return any(each.startswith(("invalid ", "not found path.")) for each in (*plan.problems.conditions, *own))
