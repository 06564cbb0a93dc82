"""What is noted of a request for those that are like it.

A client says the same of itself each time: so what was found out is noted beside the very bytes of its fields. But much
that comes with a request is of this one alone, such as the identifier that a proxy or a tracer gives it
(`X-Request-ID`, W3C Trace Context), and nobody asks for it. So it is noted as well which fields were looked up until
then, and a request that says the same in these, present or not, is like the earlier one, whatever else it says.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final, TypeVar

from ninefold.runtime.cache import Cache

NOTES: Final = 16
"""What is noted of requests with the same headers, at most: of the endpoints that one client asks, with its queries."""

ALIKE: Final = 1_024
"""What is noted of requests with the same headers where they are looked up, at most."""

LOOKED_UP_BYTES: Final = 4 * 1024
"""Characters of these, at most."""

SETS: Final = 4
"""Sets of fields that are looked up for one endpoint, at most: with one kind of credential others are sought than with
another."""

D = TypeVar("D")


class Looked(dict[str, str]):
    """Fields by name, of which is known which were looked up. They are read by name alone."""

    __slots__ = ("names",)

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(fields)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: D = None) -> str | D:  # type: ignore[assignment]
        self.names.add(name)
        return super().get(name, default)


class Alike:
    """What is noted of requests by the fields that were looked up."""

    __slots__ = ("_notes", "_sets")

    def __init__(self) -> None:
        self._sets: dict[Hashable, list[tuple[str, ...]]] = {}
        self._notes: Cache[tuple[Any, ...], Any] = Cache(ALIKE)

    def find(self, scope: Hashable, query: bytes, fields: dict[str, str]) -> Any:
        """What was noted; None: nothing was."""
        for names in self._sets.get(scope, ()):
            found = self._notes.get(_key(scope, query, names, fields))
            if found is not None:
                return found
        return None

    def keep(self, scope: Hashable, query: bytes, fields: Looked, note: Any) -> None:
        names = tuple(sorted(fields.names))
        sets = self._sets.setdefault(scope, [])
        if names not in sets:
            if len(sets) == SETS:
                return
            sets.append(names)
        if sum(len(dict.get(fields, name, "")) for name in names) <= LOOKED_UP_BYTES:
            self._notes.keep(_key(scope, query, names, fields), note)

    def forget(self, scope: Hashable, query: bytes, fields: dict[str, str]) -> None:
        for names in self._sets.get(scope, ()):
            key = _key(scope, query, names, fields)
            if key in self._notes:
                self._notes.keep(key, None)


def _key(scope: Hashable, query: bytes, names: tuple[str, ...], fields: dict[str, str]) -> tuple[Any, ...]:
    return scope, query, names, *[dict.get(fields, name) for name in names]


_NOWHERE: Final[Mapping[Hashable, Any]] = {}
"""Most heads that are read come once, and nothing is kept of them."""


class Notes:
    """What is noted of requests with the very same fields, or with others that are alike. `scope`: what else they have
    in common; there are few. `lines`: the fields as lines, where somebody needed them; None: nobody did. `places`: what
    follows from a note, by whatever its reader likes; gone when another note is taken, or one holds no more."""

    __slots__ = ("_alike", "_own", "lines", "places")

    def __init__(self, alike: Alike | None = None) -> None:
        """`alike`: of all heads of a door; None: there are no others."""
        self._own: Cache[tuple[Hashable, bytes], Any] = Cache(NOTES)
        self.places: Mapping[Hashable, Any] = _NOWHERE
        self._alike = alike
        self.lines: bytes | None = None

    def __len__(self) -> int:
        return len(self._own)

    def find(self, scope: Hashable, query: bytes, fields: dict[str, str]) -> Any:
        """What was noted; None: nothing was, or it holds no more."""
        found = self._own.get((scope, query))
        if found is None and self._alike is not None:
            found = self._alike.find(scope, query, fields)
            if found is not None:
                self._own.keep((scope, query), found)
        return found

    def put(self, among: Hashable, place: Any) -> None:
        """Into `places`."""
        if not isinstance(self.places, Cache):
            self.places = Cache[Hashable, Any](NOTES)
        self.places.keep(among, place)

    def keep(self, scope: Hashable, query: bytes, fields: dict[str, str], note: Any) -> None:
        self._own.keep((scope, query), note)
        self.places = _NOWHERE
        if self._alike is not None and isinstance(fields, Looked):
            self._alike.keep(scope, query, fields, note)

    def forget(self, scope: Hashable, query: bytes, fields: dict[str, str]) -> None:
        """What was noted holds no more."""
        self._own.keep((scope, query), None)
        self.places = _NOWHERE
        if self._alike is not None:
            self._alike.forget(scope, query, fields)
