"""Part 1 has no keys: its prose is its fact."""

from __future__ import annotations

from ninefold.language.key import Key

KEYS: tuple[Key, ...] = ()
