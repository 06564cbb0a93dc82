"""Which of the nine parts a heading names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ninefold.diagnostics.frozen import dataclass
from ninefold.syntax.nodes import PARTS

TITLES = (
    "What the service does",
    "Resources and their fields",
    "States and transitions",
    "Endpoints",
    "Authentication",
    "Events",
    "Errors",
    "Limits",
    "Versioning",
)
"""The headings of the nine parts, in the order of their numbers."""

NUMBERED_TITLES = tuple(f"{number}. {title}" for number, title in enumerate(TITLES, 1))

_NUMBERS = {
    **{name: number for number, name in enumerate(PARTS, 1)},
    **{title.casefold(): number for number, title in enumerate(TITLES, 1)},
}
_NUMBERED = re.compile(r"(?:part\s+)?([0-9]{1,2})(?:\s*[.):–—-]\s*|\s+|$)(.*)", re.IGNORECASE | re.DOTALL)


TOLD_IN: Mapping[str, int] = {
    **dict.fromkeys(("data model", "entities", "models", "schema", "schemas", "tables", "types"), 2),
    **dict.fromkeys(("lifecycle", "state machine", "state machines", "workflow"), 3),
    **dict.fromkeys(("api", "operations", "paths", "routes", "requests", "responses"), 4),
    **dict.fromkeys(("authorisation", "authorization", "permissions", "roles", "security", "access", "auth"), 5),
    **dict.fromkeys(
        ("webhooks", "events and webhooks", "hooks", "notifications", "streams", "subscriptions", "messages"), 6
    ),
    **dict.fromkeys(("error codes", "error handling", "problems"), 7),
    **dict.fromkeys(("rate limits", "rate limiting", "pagination", "time-outs", "timeouts", "quotas"), 8),
    **dict.fromkeys(("changelog", "compatibility", "deprecations", "versions"), 9),
}
"""Subjects that other documents have headings for, each with the part that tells of it here. They name no part."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says: the part of its number, and the part of its name, each counted from 1."""

    by_number: int | None
    by_name: int | None

    @property
    def part(self) -> int | None:
        """The part that it names. The name is taken where it disagrees with the number."""
        return self.by_name or self.by_number

    @property
    def disagrees(self) -> bool:
        return None not in (self.by_name, self.by_number) and self.by_name != self.by_number


def heading(text: str) -> Heading:
    """What the text of a heading names: `4`, `4. Whatever`, `Endpoints`, `Part 4: Endpoints`, in any case."""
    words = " ".join(text.split()).strip("*_` ")
    found = _NUMBERED.fullmatch(words)
    number = int(found[1]) if found else None
    name = (found[2] if found else words).strip("*_`.: ").casefold()
    by_number = number if number is not None and 1 <= number <= len(PARTS) else None
    by_name = _NUMBERS.get(name)
    if number is not None and by_number is None and by_name is not None:
        by_number = 0  # a number that no part has
    return Heading(by_number, by_name)
