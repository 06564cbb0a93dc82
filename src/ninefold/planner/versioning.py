"""Part 9: the routes and problems of each version."""

from __future__ import annotations

from datetime import UTC, datetime

from ninefold.checked.service import Checked
from ninefold.checked.service import Version as CheckedVersion
from ninefold.plan.versioning import Version, Versions
from ninefold.planner.cases import by_endpoint
from ninefold.planner.errors import problems
from ninefold.planner.limits import limits
from ninefold.planner.places import by_key, traced
from ninefold.planner.places import stated as stated_at
from ninefold.planner.routes import blocked, served
from ninefold.sql.dialect import Dialect


def versions(checked: Checked, dialect: Dialect) -> Versions | None:
    stated = checked.versions
    if stated is None:
        return None
    above: set[str] = set()
    found = []
    for each in stated.versions:
        own = checked if each.name == stated.current else each.checked
        found.append(_version(each, own, above, checked, dialect))
        above = set() if own is None else {*(e.key for e in own.endpoints), *(e.key for e in own.stopped)}
    trace = (*stated_at(checked.places, "versioning", "scheme"), *stated_at(checked.places, "versioning", "default"))
    return Versions(stated.by, stated.current, stated.name, stated.default, tuple(found), trace)


def _version(each: CheckedVersion, own: Checked | None, above: set[str], checked: Checked, dialect: Dialect) -> Version:
    said = Version(
        name=each.name,
        deprecated=_seconds(each.deprecated),
        sunset=_seconds(each.sunset),
        retired=_seconds(each.retired),
        served=own is not None,
        places=by_key(checked.places, ("deprecated", "sunset", "retired"), "versioning", "versions", each.name),
        trace=traced(each.place),
    )
    if own is None or own is checked:
        return said
    counted: dict[str, list[str]] = {}
    for rate in limits(own).rates:
        for key in rate.endpoints:
            counted.setdefault(key, []).append(rate.name)
    keys = {endpoint.key: each.moved.get(endpoint.key, endpoint.key) for endpoint in own.endpoints}
    return Version(
        name=said.name,
        routes=(*(served(cases, own, dialect) for cases in by_endpoint(own.endpoints)), *map(blocked, own.stopped)),
        problems=problems(own),
        counted={key: tuple(names) for key, names in counted.items()},
        above={key: before for key, before in keys.items() if before in above},
        deprecated=said.deprecated,
        sunset=said.sunset,
        retired=said.retired,
        places=said.places,
        trace=said.trace,
    )


def _seconds(date: str | None) -> int | None:
    """The beginning of a day, UTC."""
    return None if date is None else int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())
