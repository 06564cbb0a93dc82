"""What two plans take and give, member by member: the effects that a difference has wherever what it says is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ninefold.diff.answers import Met, of_answers, of_events, of_problems
from ninefold.diff.meaning import Felt, Meaning, Piece, admissions
from ninefold.diff.plain import OfStruct, is_of
from ninefold.diff.schemas import MEMBER, Step, steps
from ninefold.diff.verdicts import Direction
from ninefold.expressions.tree import Select, Variable
from ninefold.language.key import Side
from ninefold.plan.routes import Blocked, in_one
from ninefold.plan.writes import Put, Replace


def met(old: Meaning, new: Meaning, felt: Felt) -> dict[Met, list[str]]:
    """By what is met, the endpoints where it is. What the newest version meets is not told of older ones again."""
    found: dict[Met, list[str]] = {}
    newest: set[tuple[Side, Direction]] = set()
    # What has routes of its own: neither the newest one, nor one of which the way back is not shown.
    both = {name for name in old.versions if old.versions[name] and new.versions.get(name)}
    for key in sorted(felt.routes, key=lambda each: each[0] is not None):
        before, after = old.routes.get(key), new.routes.get(key)
        is_there = before is not None and after is not None
        for each in (
            _of_route(before.plain, after.plain) if before is not None and after is not None else _of_key(after)
        ):
            if key[0] is None:
                newest.add((each.side, each.direction))
                if not is_there:
                    continue  # its own line says so
            elif (each.side, each.direction) in newest or (not is_there and key[0] not in both):
                continue
            found.setdefault(each, []).append(key[1])
    if "problems" not in felt.rest:
        for name in (each for each in felt.rest if each.startswith("problems of ")):
            was, now = old.rest.get(name), new.rest.get(name)
            is_of_both = name.removeprefix("problems of ") in both
            for each in of_problems(was.plain, now.plain) if was and now and is_of_both else ():
                found.setdefault(each, []).append(f"the version {name.removeprefix('problems of ')}")
    return found


def _of_key(there: Piece | None) -> Iterator[Met]:
    """Of an endpoint that an older version alone has from now on, or has no more."""
    if there is None:
        yield Met("takes", "less", None, "there is no such endpoint any more")
    else:
        yield Met("takes", "more", "add an endpoint", "there is such an endpoint")


def reached(old: Meaning, new: Meaning, felt: Felt) -> list[str]:
    """The endpoints that find otherwise which rows they change, and refuse nothing where they find none."""
    found = ((key, old.routes.get(key), new.routes.get(key)) for key in felt.routes)
    return [
        key[1]
        for key, before, after in found
        if before is not None and after is not None and [*_finding(before.plain)] != [*_finding(after.plain)]
    ]


_FINDS: Final = ("find", "untouched")
"""What of an operation gives the rows that it changes, where none is as good as some: of all rows, of effects, of
`put`, and of a deletion that has an answer for what is absent."""


def _finding(value: Any) -> Iterator[Any]:
    if isinstance(value, OfStruct):
        yield from (value[name] for name in _FINDS if name in value)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _finding(each)


_BLOCKED: Final = Blocked.__struct_config__.tag
_PARAMETERS: Final = {"query": "the parameter", "headers": "the header", "path": "the path's", "stored": "the path's"}


def _of_route(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Met]:
    if _BLOCKED in (old.get("route"), new.get("route")):
        return  # what a gap costs is said of the gap
    was_said, is_said = (each.get("said", {}).get("idempotency key") for each in (old, new))
    if was_said is None and is_said == "optional":
        yield Met("takes", "unproved", None, "the header `Idempotency-Key` was ignored, and is read")
    is_ignored = old.get("requests", {}).get("said", {}).get("unknown parameters") == "ignored"
    yield from _bodies(old.get("body"), new.get("body"), any(map(_replaces, admissions(new).values())))
    for name, what in _PARAMETERS.items():
        is_open = name == "headers" or is_ignored
        for each in _parameters(old.get(name) or [], new.get(name) or [], what, is_open=is_open):
            # Of what only narrows or orders a list, nothing is shown or stored.
            is_kept = name not in ("path", "query", "headers") or _is_read(new.get("admissions"), name)
            yield replace(each, is_schema=each.is_schema and is_kept)
    was, now = admissions(old), admissions(new)
    for who in was.keys() & now.keys():
        before, after = was[who].get("operation", {}), now[who].get("operation", {})
        if is_ignored:
            come = sorted({*_read(after)} - {*_read(before)})
            yield from (
                Met("takes", "unproved", None, f"the parameter `{each}` was ignored, and is read") for each in come
            )
        gone = sorted({*_read(before)} - {*_read(after)})
        yield from (Met("takes", "less", None, f"the parameter `{each}` is not read any more") for each in gone)
        yield from of_answers(before, after)
        yield from of_events(before, after)


def _is_read(value: Any, place: str) -> bool:
    """Whether an expression reads parameters of the request (`request.query`)."""
    if is_of(value, Select) and value["name"] == place:
        operand = value["operand"]
        if is_of(operand, Variable) and operand["name"] == "request":
            return True
    match value:
        case dict():
            return any(_is_read(each, place) for each in value.values())
        case list() | tuple():
            return any(_is_read(each, place) for each in value)
        case _:
            return False


_REPLACING: Final = frozenset(each.__struct_config__.tag for each in (Put, Replace))


def _replaces(admission: dict[str, Any]) -> bool:
    """Whether fields that the body names and the request leaves out do not keep their values."""
    return admission.get("operation", {}).get("operation") in _REPLACING


def _read(operation: dict[str, Any]) -> Iterator[str]:
    """The query parameters of a list: filters, what chooses an order, and pages."""
    yield from (each["name"] for each in operation.get("filters", ()))
    paging = operation.get("paging", {})
    yield from filter(None, (operation.get("sort_parameter"), paging.get("size"), paging.get("at")))


def _bodies(old: Any, new: Any, replaces: bool) -> Iterator[Met]:
    if old is None or new is None:
        if old is None and new is not None:
            yield Met("takes", "other", None, "there is a body")
        elif new is None and old is not None:
            yield Met("takes", "unproved", None, "there is no body")
        return
    both_refuse = "ignored" not in (old.get("unknown"), new.get("unknown"))  # what is the default may be left out
    if not both_refuse:
        yield from _unread(old, new)
    found = steps(_asked(old, both_refuse), _asked(new, both_refuse))
    if replaces or (new.get("edits") and new.get("whole") is not None):
        # Who leaves out one more member takes the row its value. What edits make of the row is held to the type: one
        # more of its members may be what is refused in it.
        found = (replace(each, direction="unproved") if each.word == MEMBER else each for each in found)
    yield from _steps("takes", found)


def _unread(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Met]:
    """What no field is given any more: who sends it is answered as before, and it is lost."""
    given = {tuple(each["pointer"]) for each in new.get("fields", ())}
    for each in old.get("fields", ()):
        if tuple(each["pointer"]) not in given:
            yield Met("takes", "less", None, f"{'.'.join(each['pointer'])} is not read any more")


def _asked(body: dict[str, Any], is_closed: bool) -> dict[str, Any]:
    """The schema of a body; where something is asked of it as a whole, that says which members there are."""
    schema, whole = body["schema"], body.get("whole")
    if whole is None:
        given = (*body.get("fields", ()), *body.get("beside", ()))
        return _closed(schema, [each["pointer"] for each in given]) if is_closed else schema
    return in_one(schema, whole["schema"], bool(whole.get("at_times")))


def _closed(schema: dict[str, Any], pointers: Sequence[Sequence[str]]) -> dict[str, Any]:
    """With no other members than those that are named, also in the objects around what fields are given."""
    found = {**schema, "additionalProperties": False}
    for name in dict.fromkeys(each[0] for each in pointers if len(each) > 1):
        within = found.get("properties", {}).get(name)
        if isinstance(within, dict):
            inner = _closed(within, [each[1:] for each in pointers if each[:1] == [name] and len(each) > 1])
            found["properties"] = {**found["properties"], name: inner}
    return found


def _steps(side: Side, found: Iterator[Step]) -> Iterator[Met]:
    for each in found:
        yield Met(side, each.direction, each.word if each.direction == "more" else None, each.said, True)


def _parameters(old: list[Any], new: list[Any], what: str, *, is_open: bool) -> Iterator[Met]:
    """`is_open`: requests may have had it before, and it was ignored."""
    was, now = {each["name"]: each for each in old}, {each["name"]: each for each in new}
    for name in dict.fromkeys((*was, *now)):
        called = f"{what} `{name}`"
        if name not in now:
            yield Met("takes", "less", None, f"{called} is not read any more")
            continue
        is_required = now[name].get("required", False)
        if name not in was and is_required:
            yield Met("takes", "less", None, f"{called} has to be given")
        elif name not in was and is_open:
            yield Met("takes", "unproved", None, f"{called} was ignored, and is read")
        elif name not in was:
            yield Met("takes", "more", "add an optional parameter", f"{called} may be given")
            yield from _read_otherwise({**now[name], "default": None}, now[name], called)
        else:
            yield from _steps("takes", steps(was[name]["schema"], now[name]["schema"], called))
            yield from _read_otherwise(was[name], now[name], called)
            if was[name].get("required", False) is not is_required:
                said = "has to be given" if is_required else "may be left out"
                yield Met("takes", "less" if is_required else "more", None, f"{called} {said}")


def _read_otherwise(old: dict[str, Any], new: dict[str, Any], called: str) -> Iterator[Met]:
    """What a parameter gives where it is not given, and how several values are."""
    was, now = old.get("default"), new.get("default")
    if was != now:
        told = "nothing" if now is None else f"`{now[0]}`"
        said = f"{called} gives {told} where it is not given"
        yield Met("takes", "unproved" if was is None else "other", None, said)
    if "explode" in (old.keys() | new.keys()) and old.get("explode", True) != new.get("explode", True):
        said = "has commas between its values" if new.get("explode") is False else "is repeated for each value"
        yield Met("takes", "other", None, f"{called} {said}")
