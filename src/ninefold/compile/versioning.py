"""Part 9: the routes and problems of each version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import structs

from ninefold.checked.service import Checked, Scheme
from ninefold.checked.service import Version as CheckedVersion
from ninefold.checked.service import Versions as CheckedVersions
from ninefold.compile.cases import by_endpoint
from ninefold.compile.errors import problems
from ninefold.compile.limits import limits
from ninefold.compile.routes import blocked, carried, served
from ninefold.diagnostics.place import Place
from ninefold.expressions.operations import escaped
from ninefold.expressions.tree import Select, Typed, Variable, free_variables, walk
from ninefold.language import versioning as language
from ninefold.language.headers import seconds
from ninefold.plan.responses import Carried
from ninefold.plan.routes import PathParameter, Route, Segment, Served
from ninefold.plan.versioning import Pin, Version, Versions
from ninefold.sql.dialect import Dialect


def versions(checked: Checked, newest: tuple[Route, ...], dialect: Dialect) -> Versions | None:
    """`newest`: the routes of the newest."""
    stated = checked.versions
    if stated is None:
        return None
    found: list[Version] = []
    for each in stated.versions:
        own = checked if each.name == stated.current else each.checked
        made = _version(each, own, checked, dialect)
        if found and stated.by in ("path", "query") and any(key in each.said for key in _ENDS):
            made = structs.replace(made, routes=tuple(_leading(made, each.moved, found[-1], newest, checked)))
        found.append(made)
    trace = tuple(each for key in ("in", "name", "default") for each in checked.places.at("versioning", key))
    default = stated.default if stated.pinned is None else Pin(stated.pinned, _headers(stated.pinned))
    carries = tuple(_varies(stated, checked, trace)) if len(found) > 1 else ()
    return Versions(stated.by, stated.current, stated.name, default, tuple(found), carries, trace)


_ENDS: Final = ("deprecated", "sunset")
"""What a version says that ends: its responses lead to the one above."""


def _varies(stated: CheckedVersions, checked: Checked, trace: tuple[Place, ...]) -> Iterator[Carried]:
    """What caches have to tell responses apart by."""
    names = {"header": [stated.name], "media type": ["Accept"]}.get(stated.by, [])
    if stated.pinned is not None:
        if "caller" in free_variables(stated.pinned):
            names += [name for each in checked.schemes if (name := _carried_by(each)) is not None]
        names += _headers(stated.pinned)
    if names:
        varied = ", ".join({name.lower(): name for name in names}.values())
        yield Carried("Vary", (varied,), "RFC 9110, section 12.5.5", trace=trace)


def _headers(value: Typed) -> tuple[str, ...]:
    """The headers of a request that an expression reads."""
    found = dict[str, None]()
    for node in walk(value):
        match node:
            case Select(operand=Select(operand=Variable(name="request"), name="headers"), name=name):
                found[name] = None
            case _:
                pass
    return tuple(found)


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


def _version(each: CheckedVersion, own: Checked | None, checked: Checked, dialect: Dialect) -> Version:
    said = Version(
        name=each.name,
        retired=None if each.retired is None else seconds(each.retired),
        served=own is not None,
        said=dict(each.said),
        carries=carried(language.Version, each, each.place, checked.places, ("versioning", "versions", each.name)),
        places=checked.places.by_key((*each.said, "retired"), "versioning", "versions", each.name),
        trace=(each.place,),
    )
    if own is None or own is checked:
        return said
    counted: dict[str, list[str]] = {}
    for rate in limits(own).rates:
        for key in rate.endpoints:
            counted.setdefault(key, []).append(rate.name)
    return structs.replace(
        said,
        routes=(*(served(cases, own, dialect) for cases in by_endpoint(own.endpoints)), *map(blocked, own.stopped)),
        problems=problems(own),
        counted={key: tuple(names) for key, names in counted.items()},
    )


def _leading(
    version: Version, moved: Mapping[str, str], above: Version, newest: tuple[Route, ...], checked: Checked
) -> Iterator[Route]:
    """The routes of a version that ends, each with where it is in the version above."""
    there = {route.key: route.segments for route in (above.routes if above.problems is not None else newest)}
    trace = (*version.trace, *(version.places[key] for key in _ENDS if key in version.places))
    for route in version.routes:
        segments = there.get(moved.get(route.key, route.key)) if above.served else None
        leads = None if segments is None else _link(route.segments, segments, above.name, checked)
        if leads is None or not isinstance(route, Served):
            yield route
        else:
            value = ("<", *leads, '>; rel="successor-version"')
            link = Carried("Link", value, "RFC 5829, section 3.3", above.retired, trace)
            yield structs.replace(route, carries=(*route.carries, link))


def _link(
    own: Sequence[Segment], above: Sequence[Segment], name: str, checked: Checked
) -> tuple[str | int, ...] | None:
    """Where an endpoint is in the version above, whose name is `name`: texts and, by their numbers, the values of the
    names of the path. None: the path there has a name that this one does not give."""
    stated = checked.versions
    assert stated is not None
    names = [segment.name for segment in own if isinstance(segment, PathParameter)]
    found: list[str | int] = []
    base = [segment for segment in checked.base.split("/") if segment]
    for segment in (*base, *((name,) if stated.by == "path" else ()), *above):
        if isinstance(segment, str):
            found.append("/" + _escaped(segment, ":@!$&'()*+,;=~"))
        elif segment.name in names:
            found += ["/", names.index(segment.name), *((f":{segment.after}",) if segment.after else ())]
        else:
            return None
    return (*found, f"?{_escaped(stated.name)}={_escaped(name)}") if stated.by == "query" else tuple(found)


def _escaped(text: str, but: str = "/") -> str:
    return "".join(each if each in but else escaped(each) for each in text)
