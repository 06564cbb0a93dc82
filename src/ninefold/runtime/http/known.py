"""What the fields of heads say, kept for the heads that come again.

A client says the same of itself each time, but for what is of one request alone: an idempotency key, the identifier
that a tracer gives it (W3C Trace Context), how long its body is. Which fields are such is found out: those whose values
were others again and again, and which nobody looks up who notes something of a request
(`ninefold.runtime.messages.notes`). What heads say that are the same but for the values of these is kept once, and each
is given its own values. So are credentials as soon as there are more clients than heads are kept: those that come first
are answered sooner, and all others as soon as each other.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import force_setattr

from ninefold.runtime.cache import Cache
from ninefold.runtime.messages.notes import Alike, Notes

KNOWN_HEADS: Final = 512
"""Heads whose fields are kept as they were read."""

KNOWN_BYTES: Final = 1_024
"""Bytes of the fields of such a head, at most."""

DIFFERENT: Final = 32
"""Values of a field after which it is one whose values are each request's own."""

OWN: Final = 16
"""Fields whose values are, at most."""

HANDSHAKE: Final = (b"upgrade", b"sec-websocket-key", b"sec-websocket-version")

LENGTH: Final = b"content-length"

DECIDES: Final = frozenset((b"host", LENGTH, b"transfer-encoding", b"connection", b"expect", *HANDSHAKE))
"""The fields whose values say how a request is framed. Of these the length alone may be each request's own."""

_LONGEST_LENGTH: Final = 18
"""Digits of a Content-Length: more bytes than any machine has."""

_DIGITS = re.compile(rb"[0-9]++")


class Said(Struct, frozen=True):
    """What the fields of a head say: `fields` with names in lower case, `headers` the same by name. `length`: bytes of
    the body; None: it is chunked. `keeps`: the connection may go on after it. `expects`: the client waits to be asked
    for the body (RFC 9110 10.1.1). `handshake`: where it is a GET, it is one of WebSocket, whose key this is (RFC 6455
    4.2.1). `notes`: what others note of heads with these fields, or like them; None: nothing is. `plainly`: the same as
    `length` where what is asked for is the response alone; else None."""

    fields: list[tuple[bytes, bytes]]
    length: int | None
    keeps: bool
    expects: bool
    handshake: bytes | None
    headers: dict[str, str]
    notes: Notes | None
    plainly: int | None = None

    def __post_init__(self) -> None:
        if not self.expects and self.handshake is None:
            force_setattr(self, "plainly", self.length)


class Known(Cache[bytes, Said]):
    """By the very bytes of the fields, of requests of HTTP/1.1 for a path, but for the end of the last line. `alike`:
    what is noted of heads that are like others."""

    __slots__ = ("_last", "_like", "_own", "_split", "_values", "alike")

    def __init__(self) -> None:
        super().__init__(KNOWN_HEADS)
        self.alike = Alike()
        self._like: Cache[tuple[bytes, ...], _Like] = Cache(KNOWN_HEADS)
        self._own: Cache[bytes, str] = Cache(OWN)  # names as they are sent, and as they are looked up
        self._split: Any = None
        self._last: set[bytes] = set()  # the lines of the last head that was read anew
        self._values: Cache[bytes, set[int]] = Cache(4 * OWN)  # of names, what tells their values from one another

    def like(self, block: bytes) -> Said | None:
        """What a head says that is like an earlier one but for values of its own."""
        if self._split is None or len(block) > KNOWN_BYTES:
            return None
        if not self.alike.looked.isdisjoint(self._own.values()):
            self._look_at(*self._own)
            return None
        parts, values = self._parted(block)
        found = self._like.get(parts)
        if found is None:
            return None
        said = found.filled(values)
        if values == found.last and said is not None:
            self.keep(block, said)
        found.last = values
        return said

    def put(self, block: bytes, said: Said) -> None:
        """A head was read anew. Nothing is noted of it yet."""
        if len(block) > KNOWN_BYTES:
            return
        self._learn(block)
        parts, values = ((), []) if self._split is None else self._parted(block)
        holes = _holes(said, parts[1::2])
        if not holes or said.notes is None:
            self.keep(block, said)
            return
        said.notes.own = frozenset(name for _, _, name in holes)
        self._like.keep(parts, _Like(said, holes, values))

    def _parted(self, block: bytes) -> tuple[tuple[bytes, ...], list[bytes]]:
        """What stands around the own values of a head, with their names, and these values."""
        parts = self._split(b"\n" + block)
        values = parts[2::3]
        del parts[2::3]
        return tuple(parts), values

    def _learn(self, block: bytes) -> None:
        """Find out whose values are others each time: of the lines that the last such head did not have."""
        lines, no_ones_own = set(block.split(b"\r\n")), self.alike.looked
        if len(self) < KNOWN_HEADS and len(self._like) < KNOWN_HEADS:
            no_ones_own = no_ones_own | self.alike.credentials
        for line in lines - self._last:
            name, _, value = line.partition(b":")
            if name in self._own or _name(name) in no_ones_own or name.lower() in DECIDES - {LENGTH}:
                continue
            values = self._values.get(name)
            if values is None:
                values = set()
                self._values.keep(name, values)
            values.add(hash(value))
            if len(values) == DIFFERENT:
                self._values.keep(name, set())  # it may come to be looked up, and is counted anew then
                self._look_at(*self._own, name)
        self._last = lines

    def _look_at(self, *names: bytes) -> None:
        """From now on the values of these, as far as nobody looks them up, are each head's own."""
        self._own, self._like, self._split = Cache(OWN), Cache(KNOWN_HEADS), None
        for each in names:
            if _name(each) not in self.alike.looked:
                self._own.keep(each, _name(each))
        if self._own:
            names_of = b"|".join(map(re.escape, self._own))
            self._split = re.compile(rb"\n(%b):([\t\x20-\x7e\x80-\xff]*+)" % names_of).split


class _Like(Struct, eq=False):
    """What heads say that are the same but for the values of some fields: `said` by one of them. `holes`: of each such
    field the place, and its name. `last`: these values in the last of them."""

    said: Said
    holes: list[tuple[int, bytes, str]]
    last: list[bytes]

    def filled(self, values: list[bytes]) -> Said | None:
        """None: the length is none."""
        said = self.said
        fields, headers, length = said.fields.copy(), said.headers.copy(), said.length
        for (place, field, name), value in zip(self.holes, values, strict=True):
            value = value.strip(b" \t")
            fields[place] = field, value
            headers[name] = value.decode("latin-1")
            if field == LENGTH:
                length = length_of(value)
                if length is None:
                    return None
        return Said(fields, length, said.keeps, said.expects, said.handshake, headers, said.notes)


def length_of(value: bytes) -> int | None:
    """What a Content-Length says; None: it says none (RFC 9112 6.3)."""
    return None if _DIGITS.fullmatch(value) is None or len(value) > _LONGEST_LENGTH else int(value)


def _holes(said: Said, names: tuple[bytes, ...]) -> list[tuple[int, bytes, str]]:
    """Empty where one of these fields came more than once, as a list in several lines, or where it may follow from the
    length what the request is."""
    fields = [name for name, _ in said.fields]
    sought = [each.lower() for each in names]
    if any(fields.count(each) != 1 for each in sought) or (LENGTH in sought and HANDSHAKE[1] in fields):
        return []
    return [(fields.index(each), each, _name(each)) for each in sought]


def _name(name: bytes) -> str:
    return name.decode("latin-1").lower()
