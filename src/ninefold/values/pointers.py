"""JSON Pointers (RFC 6901): where something is in a document of JSON."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """The pointer to what a path leads to."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in path)


def tokens(pointer: str) -> list[str]:
    """Its reference tokens (RFC 6901 4), also where it is a fragment (6)."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
