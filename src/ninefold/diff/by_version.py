"""What of a piece of a plan is of one version: an event is told in each version, whichever one a request is of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def own(piece: Any, version: str) -> Any:
    """A piece, without its places, without what is told in other versions."""
    match piece:
        case {"called": dict(), "kind": str(), "select": _, "content": _}:
            return _told(piece, version)
        case dict():
            return {name: own(each, version) for name, each in piece.items()}
        case list():
            return [own(each, version) for each in piece]
        case _:
            return piece


def told(piece: Any, version: str) -> Iterator[Any]:
    """The events of it as they are told in a version."""
    match piece:
        case {"called": dict(), "kind": str(), "select": _, "content": _}:
            yield _told(piece, version)
        case dict():
            for each in piece.values():
                yield from told(each, version)
        case list():
            for each in piece:
                yield from told(each, version)


def _told(event: Any, version: str) -> Any:
    """None: that version does not have it."""
    name = event["called"].get(version)
    if name is None:
        return None
    there = next((each for each in event.get("versions", ()) if each["version"] == version), event)
    rest = {key: each for key, each in event.items() if key not in ("kind", "versions", "called", "select", "content")}
    return {**rest, "called": name, "select": there.get("select"), "content": there.get("content")}
