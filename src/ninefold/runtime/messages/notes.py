"""What is noted of a request for those that are like it.

A client says the same of itself each time: so what was found out is noted beside the very bytes of its fields. But much
that comes with a request is of this one alone, such as the identifier that a proxy or a tracer gives it
(`X-Request-ID`, W3C Trace Context), and nobody asks for it. So it is noted as well which fields were looked up until
then, and a request that says the same in these, present or not, is like the earlier one, whatever else it says.

A credential says who calls, and most clients have one of their own. So it is looked up as that (`credential`): a
request is like an earlier one whatever its credentials are, and what is noted is noted of a kind of callers.
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
"""Sets of fields that are looked up for one endpoint, at most."""

D = TypeVar("D")


class Looked(dict[str, str]):
    """Fields by name, of which is known which were looked up. They are read by name alone. `names`: of those by which a
    request is like this one; `credentials`: of those in which credentials were sought."""

    __slots__ = ("credentials", "names")

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(fields)
        self.names: set[str] = set()
        self.credentials: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: D = None) -> str | D:  # type: ignore[assignment]
        self.names.add(name)
        return super().get(name, default)


def credential(fields: Mapping[str, str], name: str) -> str | None:
    """The field in which a credential is sought."""
    if isinstance(fields, Looked):
        fields.credentials.add(name)
        return dict.get(fields, name)
    return fields.get(name)


class Alike:
    """What is noted of requests by the fields that were looked up. `looked`: their names; `credentials`: the names of
    those in which credentials were sought."""

    __slots__ = ("_notes", "_sets", "credentials", "looked")

    def __init__(self) -> None:
        self.looked: set[str] = set()
        self.credentials: set[str] = set()
        self._sets: dict[Hashable, list[tuple[str, ...]]] = {}
        self._notes: Cache[tuple[Any, ...], Any] = Cache(ALIKE)

    def find(self, scope: Hashable, query: bytes, fields: dict[str, str]) -> tuple[Any, tuple[str, ...]]:
        """What was noted, and the names of the fields by which it is; None: nothing was."""
        for names in self._sets.get(scope, ()):
            found = self._notes.get(_key(scope, query, names, fields))
            if found is not None:
                return found, names
        return None, ()

    def keep(self, scope: Hashable, query: bytes, fields: Looked, note: Any) -> None:
        names = tuple(sorted(fields.names))
        self.credentials |= fields.credentials
        sets = self._sets.setdefault(scope, [])
        if names not in sets:
            if len(sets) == SETS:
                return
            sets.append(names)
        # What was not there may be each request's own where it is, and so may be a credential: a note is found by it.
        self.looked.update(name for name in fields.names if dict.__contains__(fields, name))
        if sum(len(dict.get(fields, name, "")) for name in names) <= LOOKED_UP_BYTES:
            self._notes.keep(_key(scope, query, names, fields), note)


def _key(scope: Hashable, query: bytes, names: tuple[str, ...], fields: dict[str, str]) -> tuple[Any, ...]:
    return scope, query, names, *[dict.get(fields, name) for name in names]


_NOWHERE: Final[Mapping[Hashable, Any]] = {}
"""Most heads that are read come once, and nothing is kept of them."""


class Notes:
    """What is noted of requests with the very same fields, or with others that are alike. `scope`: what else they have
    in common; there are few. `own`: the names of fields whose values are each request's own, where not all are the very
    same. `lines`: the fields as lines, where somebody needed them; None: nobody did. `places`: what follows from a
    note, by whatever its reader likes; gone when another note is taken."""

    __slots__ = ("_alike", "_noted", "lines", "own", "places")

    def __init__(self, alike: Alike | None = None) -> None:
        """`alike`: of all heads of a door; None: there are no others."""
        self._noted: Cache[tuple[Hashable, bytes], Any] = Cache(NOTES)
        self.places: Mapping[Hashable, Any] = _NOWHERE
        self._alike = alike
        self.own: frozenset[str] = frozenset()
        self.lines: bytes | None = None

    def __len__(self) -> int:
        return len(self._noted)

    def holds(self, scope: Hashable, query: bytes) -> bool:
        """Whether something is noted that holds for all of them."""
        return self._noted.get((scope, query)) is not None

    def find(self, scope: Hashable, query: bytes, fields: dict[str, str]) -> Any:
        """What was noted; None: nothing was, or it holds no more."""
        found = self._noted.get((scope, query))
        if found is None and self._alike is not None:
            found, names = self._alike.find(scope, query, fields)
            if found is not None and self.own.isdisjoint(names):
                self._noted.keep((scope, query), found)
        return found

    def narrow(self, scope: Hashable, query: bytes, note: Any) -> None:
        """Note instead of what was found what it comes to for these very fields."""
        self._noted.keep((scope, query), note)

    def put(self, among: Hashable, place: Any) -> None:
        """Into `places`."""
        if not isinstance(self.places, Cache):
            self.places = Cache[Hashable, Any](NOTES)
        self.places.keep(among, place)

    def keep(self, scope: Hashable, query: bytes, fields: dict[str, str], note: Any) -> None:
        looked = fields.names if isinstance(fields, Looked) else None
        if not self.own or (looked is not None and self.own.isdisjoint(looked)):
            self._noted.keep((scope, query), note)
            self.places = _NOWHERE
        if self._alike is not None and isinstance(fields, Looked):
            self._alike.keep(scope, query, fields, note)
