"""Lengths of time and sizes, in words."""

from __future__ import annotations

_UNITS = (("day", 86_400_000_000), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000))


def duration(microseconds: int) -> str:
    """`30 minutes`, `1 day 12 hours`, `0.25 seconds`."""
    words, rest = [], microseconds
    for unit, length in _UNITS[:-1]:
        count, rest = divmod(rest, length)
        if count:
            words.append(f"{count} {unit}{'' if count == 1 else 's'}")
    seconds = rest / 1_000_000
    if rest or not words:
        words.append(f"{seconds:g} second{'' if seconds == 1 else 's'}")
    return " ".join(words)


def size(count: int) -> str:
    """`64 KiB`, `1500 bytes`."""
    for unit, length in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= length and count % length == 0:
            return f"{count // length} {unit}"
    return f"{count} byte{'' if count == 1 else 's'}"
