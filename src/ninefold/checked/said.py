"""What a contract says that goes along to the plan as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ninefold.diagnostics.frozen import dataclass
from ninefold.values.plain import Plain


@dataclass(frozen=True, kw_only=True)
class Saying:
    """`said`: what else the contract says of it in plain values, by their keys."""

    said: Mapping[str, Plain] = field(default_factory=dict)
