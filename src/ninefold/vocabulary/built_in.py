"""The resources that the language has itself."""

from __future__ import annotations

from typing import Final

from ninefold.language.verbs import VERBS

LOG: Final = "event"
"""The log of events as a resource, unless the contract calls one of its own so."""

BUILT_IN: Final = {
    "subscription": ("id", "url", "kinds"),
    LOG: ("position", "id", "kind", "time", "resource", "row", "payload"),
}
"""All of them, with their fields."""

READ_ONLY: Final = {LOG: tuple(verb.name for verb in VERBS.values() if verb.reads_rows)}
"""Those that nobody writes, with what can be done."""
