"""Passwords in tests are hashed as everywhere, by Argon2id, but with the least that it takes (RFC 9106, 3.1): what one
costs is on purpose, a tenth of a second of a processor, and the subject of few tests. Those ask for `hashes_that_cost`.

Services that a test starts as programs of their own hash as in earnest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ninefold.runtime.operations import credentials


def make_cheap() -> None:
    credentials.COST = credentials.LEAST


@contextmanager
def in_earnest() -> Iterator[None]:
    credentials.COST = credentials.IN_EARNEST
    try:
        yield
    finally:
        make_cheap()
