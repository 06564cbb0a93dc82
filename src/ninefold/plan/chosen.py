"""What a request chooses of a response: which members of a row are shown, and which references are shown as rows.

Each choice is a switch of the statement and of what is shown from it. Where no switch is on, all members are shown and
no reference is shown as a row: that is the response of a request that chooses nothing.
"""

from __future__ import annotations

import msgspec


class Projection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the query parameter `parameter` is given, of `members` only those are shown that it names, each one of
    `offered`."""

    parameter: str
    offered: tuple[str, ...]
    members: tuple[str, ...]


class Expansion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the query parameter `parameter` names, each one of `offered`, is shown as a row."""

    parameter: str
    offered: tuple[str, ...]


class Choices(msgspec.Struct, frozen=True, omit_defaults=True):
    """What can be chosen of the response of one operation."""

    projection: Projection | None = None
    expansion: Expansion | None = None


def given(choices: Choices | None) -> tuple[Projection | Expansion, ...]:
    """Those that there are."""
    both = () if choices is None else (choices.projection, choices.expansion)
    return tuple(each for each in both if each is not None)


def hidden(member: str) -> str:
    """The switch that leaves out a member."""
    return f"hide {member}"


def expanded(name: str) -> str:
    """The switch that shows as a row what is offered under a name."""
    return f"expand {name}"
