"""What a contract says that goes along to the plan as it is."""

from __future__ import annotations

import msgspec

from ninefold.values.plain import Plain


class Saying(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """`said`: what else the contract says of it in plain values, by their keys."""

    said: dict[str, Plain] = {}

    def text(self, key: str) -> str | None:
        """A word or a text; None: it is not said."""
        value = self.said.get(key)
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        """A number, microseconds or bytes; None: it is not said."""
        value = self.said.get(key)
        return value if isinstance(value, int) else None
