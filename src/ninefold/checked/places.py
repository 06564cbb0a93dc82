"""Where everything that a contract states stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Place


@dataclass(frozen=True)
class Places:
    """The place of each entry of a mapping and each item of a list, by the keys that lead to it from the name of its
    part: `("errors", "codes", "taken", "when")`. Items of a list are called by their positions, and where they are
    words by these too: `("endpoints", "responses", "media type")`, `("resources", "order", "required", "lines")`."""

    found: Mapping[tuple[str, ...], Place] = field(default_factory=dict, repr=False)

    def at(self, *path: str) -> tuple[Place, ...]:
        """The place, or none where nothing is stated there."""
        place = self.found.get(path)
        return () if place is None else (place,)

    def nearest(self, *path: str) -> tuple[Place, ...]:
        """The place, or that of the nearest thing around it."""
        while path:
            if path in self.found:
                return (self.found[path],)
            path = path[:-1]
        return ()
