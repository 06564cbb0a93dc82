"""Kinds of event and error codes that an older version calls otherwise, does not have, has besides, or that say
something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ninefold.contract.versioning import Change
from ninefold.language.declaration import members
from ninefold.language.errors import ErrorCode
from ninefold.language.events import EventKind
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name, Shown, value_of
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Mapping, Scalar, Sequence
from ninefold.versions.way import Way, listed

_SAID = tuple(each.attribute for each in members(ErrorCode))

T = TypeVar("T", bound=EventKind | ErrorCode)


def change_kind(way: Way, change: Change) -> None:
    kinds = value_of(way.contract.events.kinds) or ()

    def renamed(kind: EventKind, name: str) -> EventKind:
        return replace(kind, name=name, origin=kind.origin or kind.name)

    def differing(kind: EventKind, said: EventKind) -> EventKind | None:
        if said.upon is None:
            return replace(kind, payload=said.payload or kind.payload)
        help = ("an event arises once, for all versions: say its `payload` alone",)
        way.refuse(change, f"what `{kind.name}` arises upon is the same in every version", help)
        return None

    words = ("kind", "a kind of event", "write it beside: `kind: {payload: …}`")
    changed = _changed(way, change, words, kinds, lambda each: each.name, change.kind, renamed, differing)
    if changed is not None:
        events = replace(way.contract.events, kinds=listed(way.contract.events.kinds, changed))  # type: ignore[arg-type]
        way.contract = replace(way.contract, events=events)


def change_code(way: Way, change: Change) -> None:
    codes = value_of(way.contract.errors.codes) or ()

    def renamed(code: ErrorCode, name: str) -> ErrorCode:
        return replace(code, called=name)

    def differing(code: ErrorCode, said: ErrorCode) -> ErrorCode:
        return replace(code, **{key: value for key in _SAID if (value := getattr(said, key)) is not None})

    words = ("code", "an error code", "write it beside: `code: {status: …}`")
    changed = _changed(
        way, change, words, codes, lambda each: each.called or each.name, change.code, renamed, differing
    )
    if changed is None:
        return
    if change.verb == "remove":
        _without(way, next(each.name for each in codes if each not in changed))
    errors = replace(way.contract.errors, codes=listed(way.contract.errors.codes, changed))  # type: ignore[arg-type]
    way.contract = replace(way.contract, errors=errors)


def _called(code: ErrorCode) -> str:
    return code.called or code.name


def _changed(
    way: Way,
    change: Change,
    words: tuple[str, str, str],
    above: tuple[T, ...],
    called: Callable[[T], str],
    said: T | None,
    renamed: Callable[[T, str], T],
    differing: Callable[[T, T], T | None],
) -> tuple[T, ...] | None:
    """What there was in the place of those that the version above has; None if the change is not one of them. `words`:
    the key under which a change says what one was, what one is, and how it is written."""
    key, what, advice = words
    if not way.only(change, (key,), what):
        return None
    name = change.subject.text
    found = next((each for each in above if called(each) == name), None)
    if found is None and change.verb != "add":
        way.not_there(change, what, map(called, above))
        return None
    older: T | None
    match change.verb:
        case "remove":
            return tuple(each for each in above if each is not found)
        case "add" if found is not None:
            way.taken(name, change.subject.span, what, found.span)
            return None
        case "rename":
            if change.to is None or found is None:
                return None
            other = next((each for each in above if called(each) == change.to.text), None)
            if other is not None:
                way.taken(change.to.text, change.to.span, what, other.span)
                return None
            older = renamed(found, change.to.text)
        case _ if said is None:
            way.refuse(change, f"what `{name}` was is not said", (advice,))
            return None
        case _:
            older = said if found is None else differing(found, said)
    if older is None:
        return None
    return (*above, older) if found is None else tuple(older if each is found else each for each in above)


def _without(way: Way, code: str) -> None:
    """What ends in a code that is not there ends in that of its condition."""
    contract = way.contract
    way.contract = replace(
        contract,
        resources=_dropped(contract.resources, code),
        states=_dropped(contract.states, code),
        endpoints=_dropped(contract.endpoints, code),
    )


def _dropped(facts: Any, code: str) -> Any:
    """Facts without the code: every `otherwise`, and each line of `errors`."""
    if isinstance(facts, tuple):
        if len(facts) == 2 and isinstance(facts[0], Name) and isinstance(facts[1], Name):
            return None if facts[1].text == code else facts
        return tuple(each for item in facts if (each := _dropped(item, code)) is not None)
    if not is_dataclass(facts) or isinstance(facts, Expression | Schema | Mapping | Scalar | Sequence | Name):
        return facts
    changed = {}
    for field in fields(facts):
        value = getattr(facts, field.name)
        if field.name == "otherwise":
            name = value.value if isinstance(value, Shown) else value
            changed[field.name] = None if isinstance(name, Name) and name.text == code else value
        else:
            changed[field.name] = _dropped(value, code)
    return replace(facts, **changed)  # type: ignore[type-var]
