"""What a contract says that is carried as it is."""

from __future__ import annotations

from typing import TypeAlias

Plain: TypeAlias = bool | int | str
"""A truth value; a number, a duration in microseconds, a size in bytes; a word, a text, a date, a name."""
