"""What of a piece of a plan is of one version: an event is told in each version, whichever one a request is of."""

from __future__ import annotations

from typing import Any

from ninefold.diff.plain import OfStruct, is_of
from ninefold.plan.events import Event


def in_version(piece: Any, version: str | None) -> tuple[Any, list[Any]]:
    """A piece in plain values without what is told in other versions; and the events in it, as this one has them. None:
    there are no versions."""
    told: list[Any] = []
    if version is None:
        return piece, told
    return _own(piece, version, told), told


def _own(piece: Any, version: str, told: list[Any]) -> Any:
    if is_of(piece, Event) and "called" in piece:
        told.append(_told(piece, version))
        return told[-1]
    match piece:
        case dict():
            return {name: _own(each, version, told) for name, each in piece.items()}
        case list():
            return [_own(each, version, told) for each in piece]
        case _:
            return piece


def _told(event: OfStruct, version: str) -> Any:
    """None: that version does not have it."""
    name = event["called"].get(version)
    if name is None:
        return None
    there = next((each for each in event.get("versions", ()) if each["version"] == version), event)
    rest = {key: each for key, each in event.items() if key not in ("kind", "versions", "called", "select", "content")}
    return {**rest, "called": name, "select": there.get("select"), "content": there.get("content")}
