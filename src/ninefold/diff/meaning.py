"""What a plan does, without the places where it is stated; and where two plans do something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.by_version import in_version
from ninefold.diff.paths import behind, elsewhere
from ninefold.diff.plain import OfStruct, plain
from ninefold.diff.stored import StoredNames, with_names
from ninefold.diff.verdicts import side_of
from ninefold.language.declaration import join
from ninefold.language.key import Side
from ninefold.language.table import vocabulary
from ninefold.plan.routes import Route
from ninefold.plan.said import Saying
from ninefold.plan.schema import Stored
from ninefold.plan.service import ServicePlan

RouteKey: TypeAlias = tuple[str | None, str]
"""A version, None being the newest, and the endpoint as it is written there."""

_WORDS: Final = frozenset(("name", "title", "gaps", "not_in_force", "proposals", "routes", "versions", "said"))
"""What of a plan is words for people; and what is looked at apart."""

_SIDES: Final[dict[str, Side]] = {
    **dict.fromkeys(
        ("method", "segments", "body", "stored", "path", "query", "headers", "cases"), "takes"),
    **dict.fromkeys(("schemes", "challenge"), "guards"),
    **dict.fromkeys(("offers", "error_shape", "errors", "carries"), "gives"),
}  # fmt: skip
"""What the members of a route are about; of what is `said`, the declarations of its keys tell."""

_SIDES_WITHIN: Final[dict[str, Side]] = {
    **dict.fromkeys(("filters", "sorts", "sort_parameter", "choices", "upholds"), "takes"),
    **dict.fromkeys(("condition", "scopes", "who"), "guards"),
    **dict.fromkeys(("response", "conditional", "paging"), "gives"),
    "events": "tells",
}  # fmt: skip
"""The same of whom it admits, and of what is done for them; all else is what becomes of rows, and which."""

_SIDES_OF_ALL: Final[dict[str, Side]] = {
    "schema": "runs", "stored": "runs", "operator": "runs", "operator_operations": "runs", "records": "moves",
    "timers": "moves", "delivery": "tells", "problems": "gives", "limits": "takes", "schemes": "takes",
    "base": "takes", "cors": "takes",
}  # fmt: skip
"""The same of what is said of all routes."""

_SAID: Final[dict[str, tuple[int, str]]] = {
    "fields": (2, "RESOURCE.fields.FIELD"),
    **dict.fromkeys(("timers", "take", "operation", "write"), (3, "RESOURCE.transitions.TRANSITION")),
    **dict.fromkeys(("route", "cases"), (4, "ENDPOINT")),
    **dict.fromkeys(("path", "query", "headers"), (4, "ENDPOINT.query.PARAMETER")),
    "cors": (4, "cors"), "schemes": (5, "schemes.SCHEME"), "follows": (5, "schemes.SCHEME"),
    "requests": (4, "requests"), "events": (6, "kinds.KIND"), "webhooks": (6, "delivery.webhooks"),
    "envelope": (6, "delivery.envelope"), "codes": (7, "codes.CODE"), "limits": (8, ""), "rates": (8, "rates.RATE"),
    "paging": (8, "pages"), "versions": (9, "versions.VERSION"), "parts": (0, ""),
}  # fmt: skip
"""The members of a plan that have a `said`, and where in the language its keys stand, or around it. Those of parts as a
whole say themselves of which (0)."""


_AS_THEY_ARE: Final[StoredNames] = {}

_PLACE: Final = re.compile(rb'\{"line":\d+,"column":\d+\}')
"""As a struct is written: other mappings have their keys in order, and in a text quotes would be behind a stroke."""

_WRITING: Final = msgspec.json.Encoder(order="deterministic")


class Piece:
    """A part of a plan: it is the same as another one where both are written alike, or say the same without places."""

    def __init__(self, of: Any) -> None:
        self._of = of
        self._written = _PLACE.sub(b"null", _WRITING.encode(of))

    @cached_property
    def plain(self) -> Any:
        return plain(self._of)

    def beside(self, other: Piece, called: StoredNames = _AS_THEY_ARE) -> tuple[Any, Any] | None:
        """What the two say, where that is not the same. `called`: the fields of the other one that this one stores
        under other names, and under which."""
        if self._written == other._written:
            return None
        both = self.plain, with_names(other.plain, called)
        return None if both[0] == both[1] else both

    def says_the_same(self, other: Piece, called: StoredNames = _AS_THEY_ARE) -> bool:
        return self.beside(other, called) is None

    def is_the_same_in(self, names: tuple[str | None, str | None], other: Piece, called: StoredNames) -> bool:
        """Whether both say the same in a version, which they call by these names."""
        both = self.beside(other, called)
        return both is None or not _differ(both, names, 0)

    def is_called(self, old: str, new: str, other: Piece) -> bool:
        """Whether the other one is this one where a text that is `old` is `new`."""
        return bool(_called(self.plain, old, new) == _called(other.plain, old, new))


def _called(said: Any, old: str, new: str) -> Any:
    match said:
        case OfStruct():
            return {name: _called(each, old, new) for name, each in said.items()}
        case dict():
            return {new if name == old else name: _called(each, old, new) for name, each in said.items()}
        case list():
            return [_called(each, old, new) for each in said]
        case _:
            return new if said == old else said


@dataclass(frozen=True, slots=True)
class Meaning:
    """A plan in pieces: its routes, and what is said of all of them. `versions`: its routes by version, over the rows
    that are `stored`; `unnamed`: the version of a path that names none; `in_path`: those that a segment of a path names
    which stands behind as many as `base`; `current`: the newest of them; `dates`: until when each version is there."""

    routes: dict[RouteKey, Piece]
    rest: dict[str, Piece]
    versions: dict[str | None, tuple[Route, ...]]
    stored: tuple[Stored, ...]
    unnamed: str | None
    in_path: frozenset[str]
    base: int
    current: str | None
    dates: dict[str, Any]

    @property
    def pieces(self) -> dict[RouteKey, Piece]:
        """All of them, what is said of all endpoints by its name."""
        return {**self.routes, **{("", name): piece for name, piece in self.rest.items()}}


@dataclass(frozen=True, slots=True)
class Felt:
    """Where two plans differ: the routes, each with the sides on which it does; and what of the rest. `elsewhere`:
    the endpoints that answer requests which a route answered (`paths`). `versions`: those in which something is another
    for who names them, or is told in them, None being the newest. `apart`: the
    routes that are others for who asks that version: a route holds what its events are in all of them."""

    routes: dict[RouteKey, frozenset[Side]]
    rest: dict[str, Side]
    elsewhere: dict[RouteKey, tuple[str, ...]]
    versions: frozenset[str | None] = frozenset()
    apart: frozenset[RouteKey] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.routes or self.rest)

    @property
    def sides(self) -> frozenset[Side]:
        return frozenset(side for sides in self.routes.values() for side in sides) | frozenset(self.rest.values())

    @property
    def everywhere(self) -> bool:
        """Whether something is felt that is said of all endpoints."""
        return any(side not in ("runs", "moves") for side in self.rest.values())

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Those of the newest version, or of an older one, that answer in another way."""
        return tuple(dict.fromkeys(key for _, key in self.routes))


NOTHING: Final = Felt({}, {}, {})


def meaning(plan: ServicePlan) -> Meaning:
    routes: dict[RouteKey, Piece] = {(None, each.key): Piece(each) for each in plan.routes}
    rest = {name: Piece(getattr(plan, name)) for name in plan.__struct_fields__ if name not in _WORDS}
    rest["parts"] = Piece(Saying(said=plan.said))
    # In which words operators are told of a rule is no other rule.
    rules = [replace(each, rules=tuple(replace(one, words="") for one in each.rules)) for each in plan.stored]
    rest["stored"] = Piece(rules)
    by_version: dict[str | None, tuple[Route, ...]] = {None: plan.routes}
    versions = plan.versions
    all_of = () if versions is None else versions.versions
    if versions is not None:
        for version in all_of:
            by_version[version.name] = version.routes
            routes |= {(version.name, each.key): Piece(each) for each in version.routes}
            rest[f"{OF_OLDER}{version.name}"] = Piece(version.problems)
        bare = tuple(replace(each, routes=(), problems=None) for each in versions.versions)
        rest["versions"] = Piece(replace(versions, versions=bare))
    in_path = versions is not None and versions.by == "path"
    named = frozenset(each.name for each in all_of if in_path)
    default = None if versions is None or not isinstance(versions.default, str) else versions.default
    dates = {each.name: [getattr(each, name) for name in _DATES] for each in all_of}
    current = None if versions is None else versions.current
    return Meaning(routes, rest, by_version, plan.stored, default, named, len(plan.base), current, dates)


OF_OLDER: Final = "problems of "
"""What the errors of an older version are called, before its name."""

_DATES: Final = ("said", "retired", "served")


def felt(old: Meaning, new: Meaning, called: StoredNames = _AS_THEY_ARE) -> Felt:
    """Where the new one does something else; a route that one of them has not differs on the side of what is taken, and
    so does one that answers less. `called`: its fields that the old one stores under other names, and under which."""
    routes: dict[RouteKey, frozenset[Side]] = {}
    otherwise: _Otherwise = []
    for key in dict.fromkeys((*old.routes, *new.routes)):
        before, after = old.routes.get(key), new.routes.get(key)
        if before is None or after is None:
            routes[key] = frozenset(("takes",))
            otherwise.append((key, None))
        elif (both := before.beside(after, called)) is not None:
            routes[key] = frozenset(_sides_of_route(*both))
            otherwise.append((key, both))
    rest: dict[str, Side] = {}
    for name in dict.fromkeys((*old.rest, *new.rest)):
        one, other = old.rest.get(name), new.rest.get(name)
        if one is None or other is None or not one.says_the_same(other):
            rest[name] = _side_of_all(name, one and one.plain, other and other.plain)
    moved = {
        (version, key): others
        for version in old.versions.keys() & new.versions.keys()
        for key, others in elsewhere(old.versions[version], new.versions[version], old.stored).items()
    }
    came = {name: new.versions[name] or new.versions[None] for name in new.in_path - old.in_path}
    unnamed = old.versions[old.unnamed] or old.versions[None]
    for name, others in behind(unnamed, came, new.base, old.stored).items():
        where = (old.unnamed if (old.unnamed, name) in old.routes else None, name)
        moved[where] = (*moved.get(where, ()), *others)
    for at in moved:
        routes[at] = routes.get(at, frozenset()) | {"takes"}
    if "timers" in rest and (both := old.rest["timers"].beside(new.rest["timers"], called)) is not None:
        otherwise.append((_TIMERS, both))
    versions, apart = _by_version(old, new, otherwise, rest)
    versions |= {version for version, _ in moved}
    return Felt(routes, rest, moved, frozenset(versions & old.versions.keys()), frozenset(apart | moved.keys()))


_Otherwise: TypeAlias = list[tuple[RouteKey, tuple[Any, Any] | None]]
"""What both say of what is said otherwise; None: only one of the two says it."""


def _by_version(
    old: Meaning, new: Meaning, otherwise: _Otherwise, rest: Mapping[str, Side]
) -> tuple[set[str | None], set[RouteKey]]:
    """The versions in which something is another: an endpoint of its own, its errors, or what is told in it, whatever
    tells it; and the routes that are others there."""
    names = {each: (each, each) if each is not None else (old.current, new.current) for each in old.versions}
    both_say = [(key, both) for key, both in otherwise if both is not None]
    apart = {key for key, both in otherwise if both is None}
    apart |= {key for key, both in both_say if _differ(both, names.get(key[0], (key[0], key[0])), 0)}
    versions = {version for version, _ in apart}
    versions |= {each for each, called in names.items() if any(_differ(both, called, 1) for _, both in both_say)}
    versions |= {name for name in names if name is not None and f"{OF_OLDER}{name}" in rest}
    of_newest = {name for name, side in rest.items() if side != "runs"} - {"timers", "versions"}
    if not all(name.startswith(OF_OLDER) for name in of_newest):
        versions.add(None)
    return versions, apart - {_TIMERS}


_TIMERS: Final[RouteKey] = (None, "")
"""In the place of a route: what the service does by itself, and tells in all versions."""


def _differ(both: tuple[Any, Any], names: tuple[str | None, str | None], what: int) -> bool:
    """Whether the two say something else in a version, which they call by these names, or (1) tell something else."""
    was, now = (in_version(*each)[what] for each in zip(both, names, strict=True))
    return not _is_alike(was, now, names)


def _is_alike(was: Any, now: Any, names: tuple[Any, Any]) -> bool:
    """Whether both are the same, where what each calls the version is."""
    if isinstance(was, dict) and isinstance(now, dict):
        return was.keys() == now.keys() and all(_is_alike(each, now[name], names) for name, each in was.items())
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(_is_alike(*pair, names) for pair in zip(was, now, strict=True))
    return bool(was == now) or (was, now) == names


def of_older(felt: Felt, is_the_same: Callable[[str], bool]) -> Felt:
    """What of it part 9 may bring about: it says nothing of the newest version but how it is named. `is_the_same`: a
    version is as it was for all who name it."""
    routes = {key: sides for key, sides in felt.routes.items() if key[0] is not None and not is_the_same(key[0])}
    rest = {name: side for name, side in felt.rest.items() if name == "versions" or name.startswith(OF_OLDER)}
    return Felt(routes, rest, {})


def _side_of_all(name: str, old: Any, new: Any) -> Side:
    """Where the two differ in plain values alone, these tell, if they are all about one thing."""
    old, new = _differing(old, new)
    (was, left), (now, leaves) = _apart(old, name), _apart(new, name)
    sides = set(_sides_of_said(was, now)) if left == leaves else set()
    if len(sides) == 1:
        return sides.pop()
    return _SIDES_OF_ALL.get(name, "gives" if name.startswith("problems") else "takes")


_Said: TypeAlias = list[tuple[str, dict[str, Any]]]
"""What is said in plain values, each with the name of the member that says it."""


def _apart(value: Any, name: str) -> tuple[_Said, Any]:
    """What a member of that name says in plain values, or something inside it; and all else."""
    if isinstance(value, list):
        parts = [_apart(each, name) for each in value]
        return [said for found, _ in parts for said in found], [rest for _, rest in parts]
    if not isinstance(value, dict) or name == "schema":
        return [], value
    is_struct = isinstance(value, OfStruct)
    says = is_struct and name in _SAID
    said, rest = [(name, value.get("said") or {})] if says else [], {}
    for each, inner in value.items():
        if each != "said" or not says:
            found, rest[each] = _apart(inner, each if is_struct else "")
            said += found
    return said, value.with_others(rest) if isinstance(value, OfStruct) else rest


def _differing(old: Any, new: Any) -> tuple[Any, Any]:
    """Both without what stands in both at the same place."""
    if isinstance(old, dict) and isinstance(new, dict):
        left = {name: each for name, each in old.items() if new.get(name, ...) != each}
        come = {name: each for name, each in new.items() if old.get(name, ...) != each}
        pairs = {name: _differing(each, come[name]) for name, each in left.items() if name in come}
        left |= {name: was for name, (was, _) in pairs.items()}
        come |= {name: now for name, (_, now) in pairs.items()}
        if isinstance(old, OfStruct) and isinstance(new, OfStruct):
            return old.with_others(left), new.with_others(come)
        return left, come
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        found = [_differing(was, now) for was, now in zip(old, new, strict=True) if was != now]
        return [was for was, _ in found], [now for _, now in found]
    return old, new


def _sides_of_said(old: _Said, new: _Said) -> Iterator[Side]:
    for (name, was), (_, now) in zip(old, new, strict=False):  # another number of them is a difference of its own
        part, at = _SAID[name]
        for key in {**was, **now}:
            if was.get(key) != now.get(key):
                yield side_of(part or next(each.part for each in vocabulary() if each.path == key), join(at, key))


def _with_cases(route: OfStruct) -> OfStruct:
    """With what each of its cases says: what the endpoint does, where it says nothing of its own."""
    of = route.get("cases")
    if of is None:
        return route
    cases = [each.with_others({"said": route.get("said"), **each}) for each in of.get("cases", ())]
    return route.with_others({**route, "cases": of.with_others({**of, "cases": cases})})


def _sides_of_route(old: OfStruct, new: OfStruct) -> Iterator[Side]:
    (were_said, old), (are_said, new) = _apart(_with_cases(old), "route"), _apart(_with_cases(new), "route")
    yield from _sides_of_said(were_said, are_said)
    for name in dict.fromkeys((*old, *new)):
        if name in _SIDES and old.get(name) != new.get(name):
            yield _SIDES[name]
    was, now = admissions(old), admissions(new)
    if was.keys() != now.keys():
        yield "guards"
    for who in was.keys() & now.keys():
        yield from _sides(was[who], now[who])


def admissions(route: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    """Whom a route admits, by who it is and the number of the case."""
    return {(each["who"], each.get("case", 0)): each for each in route.get("admissions", ())}


def _sides(old: Any, new: Any) -> Iterator[Side]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        known = _SIDES_WITHIN if isinstance(old, OfStruct) and isinstance(new, OfStruct) else {}
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                yield from (known[name],) if name in known else _sides(old.get(name), new.get(name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from _sides(before, after)
    else:
        yield "moves"
