"""Part 9: the routes and problems of each version."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import structs

from ninefold.checked.service import Checked, Scheme
from ninefold.checked.service import Version as CheckedVersion
from ninefold.compile.cases import by_endpoint
from ninefold.compile.errors import problems
from ninefold.compile.limits import limits
from ninefold.compile.routes import blocked, served
from ninefold.expressions.tree import Select, Typed, Variable, free_variables, walk
from ninefold.plan.versioning import Pin, Version, Versions
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
    trace = tuple(each for key in ("in", "name", "default") for each in checked.places.at("versioning", key))
    default = stated.default if stated.pinned is None else _pin(stated.pinned, checked)
    return Versions(stated.by, stated.current, stated.name, default, tuple(found), trace)


def _pin(value: Typed, checked: Checked) -> Pin:
    headers = tuple(dict.fromkeys(_headers(value)))
    vary = [] if "caller" not in free_variables(value) else [each for each in map(_carried_by, checked.schemes) if each]
    return Pin(value, headers, tuple({name.lower(): name for name in (*vary, *headers)}.values()))


def _headers(value: Typed) -> Iterator[str]:
    for node in walk(value):
        match node:
            case Select(operand=Select(operand=Variable(name="request"), name="headers"), name=name):
                yield name
            case _:
                pass


def _carried_by(scheme: Scheme) -> str | None:
    """The request header that credentials of a scheme come in; None: they do not come in one."""
    match scheme.where:
        case "authorization":
            return "Authorization"
        case "cookie":
            return "Cookie"
        case "header":
            return scheme.parameter
        case _:
            return None


def _version(each: CheckedVersion, own: Checked | None, above: set[str], checked: Checked, dialect: Dialect) -> Version:
    said = Version(
        name=each.name,
        deprecated=_seconds(each.deprecated),
        sunset=_seconds(each.sunset),
        retired=_seconds(each.retired),
        served=own is not None,
        said=dict(each.said),
        places=checked.places.by_key(
            ("deprecated", "sunset", "retired", *each.said), "versioning", "versions", each.name
        ),
        trace=(each.place,),
    )
    if own is None or own is checked:
        return said
    counted: dict[str, list[str]] = {}
    for rate in limits(own).rates:
        for key in rate.endpoints:
            counted.setdefault(key, []).append(rate.name)
    keys = {endpoint.key: each.moved.get(endpoint.key, endpoint.key) for endpoint in own.endpoints}
    return structs.replace(
        said,
        routes=(*(served(cases, own, dialect) for cases in by_endpoint(own.endpoints)), *map(blocked, own.stopped)),
        problems=problems(own),
        counted={key: tuple(names) for key, names in counted.items()},
        above={key: before for key, before in keys.items() if before in above},
    )


def _seconds(date: str | None) -> int | None:
    """The beginning of a day, UTC."""
    return None if date is None else int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())
