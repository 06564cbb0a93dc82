"""A page of a list begins behind a cursor: the sort keys of the last row before it, sealed with AES-SIV (RFC 5297). It
cannot be read, cannot be made by a client, and works for the list, the kind of caller and the order that it was made
for and no other. The same place always has the same cursor."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from hashlib import sha512
from typing import TypeAlias

import msgspec

from ninefold.runtime.messages.seals import Seal
from ninefold.runtime.store.protocol import Stored

Seals: TypeAlias = Callable[[Sequence[Stored]], str]
"""The cursor of a row with these sort keys."""


class Cursors:
    def __init__(self, key: bytes) -> None:
        """`key`: secret bytes of the database, at least 32, and the same at every start."""
        self._seal = Seal(sha512(b"ninefold cursor" + key).digest())

    def of(self, *bound_to: str) -> Seals:
        """What makes cursors for one list, kind of caller and order: of the sort keys of a row, in their stored
        form."""
        sealed, bound = self._seal.sealed, [text.encode() for text in bound_to]
        return lambda keys: _spelled(sealed(msgspec.msgpack.encode(keys), bound))

    def seal(self, keys: Sequence[Stored], *bound_to: str) -> str:
        return self.of(*bound_to)(keys)

    def open(self, cursor: str, *bound_to: str) -> list[Stored] | None:
        """The sort keys in a cursor; None: the service did not make it, or made it for another list or order."""
        try:
            sealed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            if _spelled(sealed) != cursor:
                return None
            opened = self._seal.opened(sealed, [text.encode() for text in bound_to])
        except (NotBase64, ValueError):
            return None
        keys: list[Stored] = msgspec.msgpack.decode(opened)
        return keys


def _spelled(sealed: bytes) -> str:
    """The one way to write a sealed cursor (RFC 4648 5, without padding)."""
    return urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def once_more(seal: Seals) -> Seals:
    """The same for requests that are alike: until rows are written they come to the same place, which has the same
    cursor."""
    before, cursor = b"", ""

    def sealed(keys: Sequence[Stored]) -> str:
        nonlocal before, cursor
        # As they are sealed: of 1 and 1.0, which are equal, there are two cursors.
        plain = msgspec.msgpack.encode(keys)
        if plain != before:
            before, cursor = plain, seal(keys)
        return cursor

    return sealed
