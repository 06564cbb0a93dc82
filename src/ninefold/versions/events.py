"""Kinds of event that an older version calls otherwise, does not have, has besides, or whose payload differs."""

from __future__ import annotations

from dataclasses import replace

from ninefold.contract.events import EventKind
from ninefold.contract.fact import Shown, value_of
from ninefold.contract.versioning import Change
from ninefold.versions.way import Way, listed


def change_kind(way: Way, change: Change) -> None:
    if not way.only(change, ("kind",), "a kind of event"):
        return
    kinds, name = value_of(way.contract.events.kinds) or (), change.subject.text
    found = next((each for each in kinds if each.name == name), None)
    if found is None and change.verb != "add":
        way.not_there(change, "a kind of event", [each.name for each in kinds])
        return
    changed: tuple[EventKind, ...]
    match change.verb:
        case "rename":
            if change.to is None:
                return
            other = next((each for each in kinds if each.name == change.to.text), None)
            if other is not None:
                way.taken(change.to.text, change.to.span, "a kind of event", other.span)
                return
            assert found is not None
            older = replace(found, name=change.to.text, origin=found.origin or found.name)
            changed = tuple(older if each is found else each for each in kinds)
        case "remove":
            changed = tuple(each for each in kinds if each is not found)
        case "add" if found is not None:
            way.taken(name, change.subject.span, "a kind of event", found.span)
            return
        case _ if change.kind is None:
            way.refuse(change, f"what `{name}` was is not said", ("write it beside: `kind: {payload: …}`",))
            return
        case "add":
            changed = (*kinds, change.kind)
        case _:
            assert found is not None
            if change.kind.upon is not None:
                help = ("an event arises once, for all versions: say its `payload` alone",)
                way.refuse(change, f"what `{name}` arises upon is the same in every version", help)
                return
            older = replace(found, payload=change.kind.payload or found.payload)
            changed = tuple(older if each is found else each for each in kinds)
    if isinstance(way.contract.events.kinds, Shown):
        events = replace(way.contract.events, kinds=listed(way.contract.events.kinds, changed))  # type: ignore[arg-type]
        way.contract = replace(way.contract, events=events)
