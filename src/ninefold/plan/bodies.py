"""The one schema of a body that is told member by member and as a whole."""

from __future__ import annotations

from typing import Any


def in_one(members: dict[str, Any], whole: dict[str, Any], at_times: bool) -> dict[str, Any]:
    """A schema that asks what both ask: one object where both name the same members, and each of them always
    (`at_times`: some are members of some bodies alone)."""
    if not whole:
        return members
    if at_times or members.get("properties", {}).keys() != whole.get("properties", {}).keys():
        return members | {"allOf": [*members.get("allOf", ()), whole]}
    return {**whole, **members}
