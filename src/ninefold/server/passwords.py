"""Passwords: hashed with Argon2id (RFC 9106), and what a client sends of one with HTTP's Basic scheme (RFC 7617).

To hash or to verify takes tens of milliseconds and 64 MiB, on purpose. So it is done beside the event loop
(`ninefold.server.computing`), and only so much of it waits at once as `Capacity` says.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ninefold.database.protocol import Stored

_hasher = PasswordHasher()
"""With the parameters of the second recommended option of RFC 9106, section 4."""

LANES = _hasher.parallelism
"""Processors that one hash uses at once."""

NOBODYS = "$argon2id$v=19$m=65536,t=3,p=4$bmluZWZvbGRuaW5lZm9sZA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""A hash of no password that anybody knows: verifying against it takes as long as against any other."""


def hashed(password: str) -> str:
    """The hash in its encoded form, which names its salt and parameters."""
    return _hasher.hash(password.encode("utf-8", "surrogatepass"))


def is_password(stored: Stored, password: str) -> bool:
    """Whether a stored hash is of this password. Without one (there is no such row, or it has no password) the answer
    is no, and takes as long."""
    known = stored.decode() if isinstance(stored, bytes) else stored
    encoded = known if isinstance(known, str) and known else NOBODYS
    try:
        return _hasher.verify(encoded, password.encode("utf-8", "surrogatepass")) and encoded is not NOBODYS
    except (VerificationError, InvalidHashError):
        return False


@dataclass(frozen=True, slots=True)
class UserAndPassword:
    user: str
    password: str


def basic(credential: str) -> UserAndPassword | None:
    """The user-id and password of Basic credentials (RFC 7617 2), in UTF-8 as the challenge says; None: they are none.
    The first colon ends the user-id, and neither of the two holds a control character."""
    try:
        text = b64decode(credential, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    user, colon, password = text.partition(":")
    if not colon or any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        return None
    return UserAndPassword(user, password)
