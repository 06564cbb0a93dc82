"""What two plans give, member by member: responses, by their outcomes, errors and events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.plain import is_of
from ninefold.diff.verdicts import Direction
from ninefold.language.key import Side
from ninefold.plan.events import Event
from ninefold.plan.writes import Ensure, Instead, Put, Replace


@dataclass(frozen=True, slots=True)
class Met:
    """One way in which an endpoint takes or gives something else."""

    side: Side
    direction: Direction
    word: str | None
    said: str
    is_schema: bool = False


_PUTS: Final = frozenset(each.__struct_config__.tag for each in (Ensure, Put))
_REPLACES: Final = Replace.__struct_config__.tag
_INSTEAD: Final = Instead.__struct_config__.tag


def of_answers(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Met]:
    """Of what an operation answers where it is done, outcome by outcome."""
    was, now = _answers(old), _answers(new)
    for outcome in was.keys() & now.keys():
        yield from _responses(was[outcome], now[outcome])
    if not {old.get("operation"), new.get("operation")} <= {*_PUTS, _REPLACES}:
        return
    for outcome in sorted(was.keys() ^ now.keys()):
        is_gone, other = outcome in was, now if outcome in was else was
        if outcome == "unchanged" and "replaced" in other:
            told = _instead_events(old) & _instead_events(new)
            said = "arises" if is_gone else "does not arise"
            for kind in sorted(told):
                yield Met("tells", "other", None, f"the event {kind} {said} where a row is as it is wanted")
        elif is_gone:
            yield Met("takes", "less", None, f"what ended as `{outcome}` is refused")
        else:
            yield Met("takes", "more", "relax a restriction", f"what ends as `{outcome}` was refused")


def _answers(operation: dict[str, Any]) -> dict[str, Any]:
    """The response of each outcome; of what has one alone, under no name."""
    is_put = operation.get("operation") in _PUTS
    found: dict[str, Any] = {}
    if not is_put or operation.get("makes", True):
        found["created" if is_put else "replaced" if operation.get("operation") == _REPLACES else ""] = operation.get(
            "response"
        )
    for each in _instead(operation):
        found["replaced"] = each["write"].get("response")
    if operation.get("untouched") is not None:
        found["unchanged" if is_put else "absent"] = operation["untouched"].get("response")
    return found


def _instead(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """What `put` does with a row that is there with other values."""
    return [each for each in operation.get("follows", ()) if each.get("step") == _INSTEAD]


def _instead_events(operation: dict[str, Any]) -> frozenset[str]:
    return frozenset(kind for each in _instead(operation) for kind in _found_events(each))


def of_problems(old: Any, new: Any) -> Iterator[Met]:
    """Of errors, by what is met and by code."""
    was, now = ({each["name"]: each for each in one.get("codes", ())} for one in (old or {}, new or {}))
    for name in dict.fromkeys((*was, *now)):
        stood, stands = was.get(name), now.get(name)
        if stood is None or stands is None:
            more = "add an error code"
            gone = Met("gives", "less", None, f"there is no code {name} any more")
            yield gone if stands is None else Met("gives", "more", more, f"there is a code {name}")
            continue
        for of, said in (("called", "is called"), ("status", "has the status")):
            if stood.get(of) != stands.get(of):
                yield Met(
                    "gives",
                    "other",
                    None,
                    f"the code {name} {said} {stands.get(of) or name}, was {stood.get(of) or name}",
                )


def of_conditions(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Met]:
    """Of errors, by what a request meets: with which code and status it is answered now, and was."""
    for each in dict.fromkeys((*old.get("conditions", ()), *new.get("conditions", ()))):
        (was, stood), (now, stands) = _answered(old, each), _answered(new, each)
        if stood != stands:
            yield Met("gives", "other", None, f"`{each}` has the status {stands}, was {stood}")
        elif was is None and now is not None:
            yield Met("gives", "more", "add an error code", f"`{each}` has the code {now}, and was a bare status")
        elif was != now:
            yield Met("gives", "other", None, f"`{each}` has {f'the code {now}' if now else 'no code'}, was {was}")


def _answered(problems: dict[str, Any], condition: str) -> tuple[str | None, int | None]:
    """The code of a condition, if it has one, and its status: its own, or that of the wider one that it is."""
    codes = {each["name"]: each for each in problems.get("codes", ())}
    statuses = problems.get("statuses", {})
    while condition not in problems.get("conditions", ()) and condition not in statuses and condition:
        condition = condition.rpartition("." if "." in condition else " ")[0]
    code = problems.get("conditions", {}).get(condition)
    return code, codes[code]["status"] if code in codes else statuses.get(condition)


def _responses(old: Any, new: Any) -> Iterator[Met]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    for name, called in (("status", "status"), ("media_type", "media type")):
        if old.get(name) != new.get(name):
            yield Met("gives", "other", None, f"the {called} was {old.get(name)}, is {new.get(name)}")
    was, now = dict(map(tuple, old.get("headers", ()))), dict(map(tuple, new.get("headers", ())))
    for each in dict.fromkeys((*was, *now)):
        if each not in was:
            yield Met("gives", "more", "add a response header", f"the header {each} is there")
        elif each not in now:
            yield Met("gives", "less", None, f"the header {each} is gone")
    yield from _contents("gives", old.get("content"), new.get("content"), "")


def _contents(side: Side, old: Any, new: Any, at: str) -> Iterator[Met]:
    """Members that are there and were not, or are not and were; what they hold is a matter of facts."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        if (old is None) is not (new is None):
            yield Met(side, "other", None, f"{at or 'the content'} is " + ("there" if old is None else "gone"))
        return
    if old["content"] != new["content"]:
        yield Met(side, "other", None, f"{at or 'the content'} is of another form")
        return
    for name in ("members", "expanded"):
        was, now = dict(map(tuple, old.get(name, ()))), dict(map(tuple, new.get(name, ())))
        for each in dict.fromkeys((*was, *now)):
            here = f"{at}.{each}" if at else each
            if each not in was:
                yield Met(side, "more", None, f"the member {here} is there")
            elif each not in now:
                yield Met(side, "less", None, f"the member {here} is gone")
            else:
                yield from _contents(side, was[each], now[each], here)
    if "item" in old:
        yield from _contents(side, old["item"], new.get("item"), f"{at}[]" if at else "each")
    if "items" in old and isinstance(old["items"], list):
        if len(old["items"]) != len(new.get("items", ())):
            yield Met(side, "other", None, f"{at or 'the content'} has another number of items")
        for before, after in zip(old["items"], new.get("items", ()), strict=False):
            yield from _contents(side, before, after, f"{at}[]")
    for name in ("yes", "no"):
        if name in old:
            yield from _contents(side, old[name], new.get(name), at)
    if old.get("null_shown", False) != new.get("null_shown", False):
        yield Met(
            side,
            "other",
            None,
            f"{at or 'the content'} without a value is " + ("`null`" if new.get("null_shown") else "left out"),
        )


def _found_events(value: Any) -> dict[str, Any]:
    """The events that an operation writes, wherever in it they stand."""
    found: dict[str, Any] = {}
    if is_of(value, Event):
        return {value["kind"]: value}
    if isinstance(value, dict):
        for each in value.values():
            found |= _found_events(each)
    elif isinstance(value, list):
        for each in value:
            found |= _found_events(each)
    return found


def of_events(before: Any, after: Any) -> Iterator[Met]:
    """Of those that an operation writes."""
    old, new = _found_events(before), _found_events(after)
    for kind in dict.fromkeys((*old, *new)):
        if kind not in old:
            yield Met("tells", "more", "add an event kind", f"the event {kind} arises")
        elif kind not in new:
            yield Met("tells", "less", None, f"the event {kind} does not arise")
        else:
            yield from _contents("tells", old[kind].get("content"), new[kind].get("content"), "")
