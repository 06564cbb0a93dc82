"""Passwords in tests are hashed as everywhere, by Argon2id, but with the least that it takes (RFC 9106, 3.1): what one
costs is on purpose, a tenth of a second of a processor, and the subject of few tests. Those ask for `hashes_that_cost`.

Services that a test starts as programs of their own hash as in earnest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from ninefold.runtime.operations import credentials

if TYPE_CHECKING:
    from argon2 import PasswordHasher

_IN_EARNEST = (credentials._hasher, credentials.NOBODYS)


@cache
def _cheap() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=1, memory_cost=8 * credentials.LANES, parallelism=credentials.LANES)


_CHEAP = (_cheap, credentials.NOBODYS.replace("m=65536,t=3", f"m={8 * credentials.LANES},t=1"))


def make_cheap() -> None:
    assert _CHEAP[1] != _IN_EARNEST[1]
    credentials._hasher, credentials.NOBODYS = _CHEAP


@contextmanager
def in_earnest() -> Iterator[None]:
    credentials._hasher, credentials.NOBODYS = _IN_EARNEST
    try:
        yield
    finally:
        make_cheap()
