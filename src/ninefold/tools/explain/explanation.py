"""An explanation as data: sections of items, each item a fact, with the place that says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.language.meanings import Meaning

Standing: TypeAlias = Literal["in force", "gap", "proposed", "accepted", "not in force", "wrong"]
"""How a fact stands:

- `in force`: the service does so.
- `gap`: it is not shown; `consequence` says what that costs.
- `proposed`: something is proposed, and is not in force.
- `accepted`: it was a proposal, and is in force because proposals were accepted.
- `not in force`: it is stated, and this build does not do it; `consequence` says what happens instead.
- `wrong`: the contract says something that cannot be.
"""


@dataclass(frozen=True, slots=True)
class Cause:
    """A condition of the closed list, perhaps narrowed to a subject, with its answer. `code` None: a bare status."""

    condition: str
    subject: str | None
    code: str | None
    status: int

    @property
    def name(self) -> str:
        return f"{self.condition} {self.subject}" if self.subject else self.condition


@dataclass(frozen=True, slots=True)
class Item:
    """One fact in one sentence. `place` None: no single place of the contract says it, but the items below do, or a
    fixed meaning (`meanings`, by name), or HTTP. `cause`: it makes the service refuse a request."""

    text: str
    place: Place | None = None
    standing: Standing = "in force"
    consequence: str = ""
    meanings: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """`about` is an endpoint's key, or the title of the service. `outcome` says in a few words what becomes of it.
    `meanings` are all fixed meanings that an item cites, in the order of the page."""

    contract: str
    about: str
    place: Place
    outcome: str
    sections: tuple[Section, ...]
    meanings: tuple[Meaning, ...]


def every(items: Iterable[Item]) -> Iterator[Item]:
    """Items and all that is under them, in reading order."""
    for item in items:
        yield item
        yield from every(item.items)


def all_items(explanation: Explanation) -> Iterator[Item]:
    for section in explanation.sections:
        yield from every(section.items)
