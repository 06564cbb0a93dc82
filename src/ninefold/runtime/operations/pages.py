"""Pages of a list: the place from which the next one starts, and what a response may tell of one.

A cursor holds the sort keys of the last row of a page, sealed with AES-SIV (RFC 5297): it cannot be read, cannot be
made by a client, and works for the list, the kind of caller and the order that it was made for and no other. The
same place always has the same cursor.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from hashlib import sha512

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from ninefold.runtime.messages.parameters import Page
from ninefold.runtime.store.protocol import Stored


class Cursors:
    def __init__(self, key: bytes) -> None:
        """`key`: secret bytes of the database, at least 32, and the same at every start."""
        self._cipher = AESSIV(sha512(b"ninefold cursor" + key).digest())

    def seal(self, keys: Sequence[Stored], *bound_to: str) -> str:
        """The cursor of a row with these sort keys, in their stored form."""
        sealed = self._cipher.encrypt(msgspec.msgpack.encode(keys), [text.encode() for text in bound_to])
        return _spelled(sealed)

    def open(self, cursor: str, *bound_to: str) -> list[Stored] | None:
        """The sort keys in a cursor; None: the service did not make it, or made it for another list or order."""
        try:
            sealed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            if _spelled(sealed) != cursor:
                return None
            opened = self._cipher.decrypt(sealed, [text.encode() for text in bound_to])
        except (NotBase64, ValueError, InvalidTag):
            return None
        keys: list[Stored] = msgspec.msgpack.decode(opened)
        return keys


def _spelled(sealed: bytes) -> str:
    """The one way to write a sealed cursor (RFC 4648 5, without padding)."""
    return urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def page_told(page: Page, by: str, count: int, total: object, more: bool, cursor: str | None) -> dict[str, object]:
    """`count`: how many rows the page has. `total`: how many the list has, where that was asked. `more`: whether rows
    come after the page. `cursor`: what asks for them, where pages are reached so."""
    told: dict[str, object] = {"count": count, "total": total, "next": cursor, "previous": None}
    if page.size is None:
        return told
    told |= {"size": page.size, "start": page.start, "number": page.number}
    if isinstance(total, int):
        told["pages"] = -(-total // page.size)
    if by == "page":
        told["next"] = page.number + 1 if more else None
        told["previous"] = page.number - 1 if page.start > 0 else None
    elif by == "offset":
        told["next"] = page.start + page.size if more else None
        told["previous"] = max(0, page.start - page.size) if page.start > 0 else None
    return told
