"""What is kept since it may be asked for again, where there is room for so much.

Where there is none, what is new takes the place of any. Of clients that come in turn, one more than there is room for
would else find nothing of each, whether all is forgotten then or what was not asked for longest; so nearly all find
what was kept of them.
"""

from __future__ import annotations

from random import randrange
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(dict[K, V]):
    """To be read as any `dict`, and written by `keep` alone."""

    __slots__ = ("_keys", "_most")

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._keys: list[K] = []

    def keep(self, key: K, value: V) -> None:
        if key not in self:
            if len(self) < self._most:
                self._keys.append(key)
            else:
                place = randrange(self._most)
                del self[self._keys[place]]
                self._keys[place] = key
        self[key] = value
