"""Those who wait for something to be told: by audience, and by how far they were told."""

from __future__ import annotations

import sys
from asyncio import Future, Task
from collections.abc import Callable

from ninefold.runtime.operations.flow import Follow, Holds, Over

NOT_YET = sys.maxsize
"""The position of a look that there has not been yet: nobody has been told so much."""


class Listener:
    """One response that goes on. `position`: up to where it was told, unless it waits. `told`: done with the
    events to be told next, of which none are a sign of life, or with None when there is nothing more to say; None: it
    does not wait. `beat`: gives a sign of life to one that waits, if nobody has to wait for that. `sent`: bytes."""

    __slots__ = ("audience", "beat", "position", "sent", "told", "waits_in")

    def __init__(self, audience: Audience, position: int, beat: Callable[[], int | None]) -> None:
        self.audience = audience
        self.position = position
        self.beat = beat
        self.sent = 0
        self.told: Future[tuple[bytes, ...] | None] | None = None
        self.waits_in: Group | None = None


class Group:
    """Those of an audience who wait, and were told up to the same position; None: all that has been looked at."""

    __slots__ = ("listeners", "position")

    def __init__(self, position: int | None) -> None:
        self.position = position
        self.listeners: set[Listener] = set()


class Audience:
    """Those who see the same. `level`: who waits, and was told all; `groups`: who else waits, by position. `standing`
    is as of `asked`: how often the bell had rung, and when; it was found in `tables`; None: nobody knows yet.
    `questions`: how often that was asked; `answered`: the last of these that has its answer."""

    def __init__(self, of: Follow) -> None:
        self.of = of
        self.listeners = 0
        self.level = Group(None)
        self.groups: dict[int, Group] = {}
        self.standing: Holds | Over = Over.UNKNOWN
        self.asked: tuple[int, float] = (-1, 0.0)
        self.tables: frozenset[str] | None = None
        self.questions = 0
        self.answered = 0
        self.fetching: Task[None] | None = None

    @property
    def is_over(self) -> bool:
        return self.standing in (Over.ENDED, Over.FAILED)

    @property
    def waiting(self) -> list[Listener]:
        return [listener for group in (self.level, *self.groups.values()) for listener in group.listeners]


class Waiting:
    """`looked`: up to where all who wait have been told, but for those who could not be. `apart`: the audiences of whom
    some wait and were told less, or more."""

    def __init__(self) -> None:
        self.looked = NOT_YET
        self.apart: dict[Audience, None] = {}

    def tell(self, listener: Listener, events: tuple[bytes, ...] | None) -> None:
        """Whoever waits goes on with this."""
        if listener.told is not None and not listener.told.done():
            self.wait_no_more(listener)
            listener.told.set_result(events)

    @staticmethod
    def beat(listener: Listener) -> bool:
        """Give a sign of life to one that waits, without waking it: whether it was given."""
        if listener.told is None or listener.told.done():
            return False
        size = listener.beat()
        listener.sent += size or 0
        return size is not None

    def wait(self, listener: Listener) -> None:
        audience = listener.audience
        if listener.position == self.looked:
            group = audience.level
        else:
            group = audience.groups.setdefault(listener.position, Group(listener.position))
            self.apart[audience] = None
        group.listeners.add(listener)
        listener.waits_in = group

    def wait_no_more(self, listener: Listener) -> None:
        group = listener.waits_in
        if group is None:
            return
        listener.waits_in = None
        listener.position = self.looked if group.position is None else group.position
        group.listeners.discard(listener)
        if group.position is not None and not group.listeners:
            self._is_gone(listener.audience, group.position)

    def _is_gone(self, audience: Audience, position: int) -> None:
        del audience.groups[position]
        if not audience.groups:
            self.apart.pop(audience, None)

    def stay(self, audience: Audience) -> None:
        """Who was told all is not told what comes by waiting alone."""
        if audience.level.listeners:
            group, audience.level = audience.level, Group(None)
            group.position = self.looked
            self._join(audience, group, self.looked)
            self.apart[audience] = None

    def move(self, audience: Audience, group: Group, position: int) -> None:
        """There was nothing to tell a group up to a position."""
        assert group.position is not None
        self._is_gone(audience, group.position)
        if position == self.looked:
            group.position = None
            _add(group, audience.level)
        else:
            group.position = position
            self._join(audience, group, position)
            self.apart[audience] = None

    @staticmethod
    def _join(audience: Audience, group: Group, position: int) -> None:
        there = audience.groups.setdefault(position, group)
        if there is not group:
            _add(group, there)


def _add(group: Group, to: Group) -> None:
    for listener in group.listeners:
        listener.waits_in = to
    to.listeners |= group.listeners
