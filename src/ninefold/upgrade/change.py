"""One difference between what a database has and what a contract wants."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.upgrade.steps import Premise, Step

Kind: TypeAlias = Literal["automatic", "aside", "back", "question"]
By: TypeAlias = Literal["serve", "upgrade"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `about` names what differs (`field order.note`), `words` say how. `premises`: what has to be so
    among the rows, each with what it means where it is not. `by`: `serve` makes it as well, or `upgrade` alone.
    `write`: lines for the document of the upgrade, one of which answers a question. `hides`: no message has one of its
    values as an example: the contract calls them sensitive."""

    kind: Kind
    about: str
    words: str
    steps: tuple[Step, ...] = ()
    premises: tuple[Premise, ...] = ()
    by: By = "serve"
    write: tuple[str, ...] = ()
    over: Premise | None = None
    hides: bool = False

    @property
    def unasked(self) -> Change:
        """The same where there is nothing to decide over: no row has what a question is about."""
        return replace(self, kind="aside", words="which nothing is in") if self.kind == "question" else self


def of_lacking(table: str, field: str) -> tuple[str, ...]:
    """Lines for the document: what may become of rows without a value."""
    lacking = f'where: "!has(old.{field})"'
    return f"{{set: {table}.{field}, is: …, {lacking}}}", f"{{remove rows: {table}, {lacking}}}"
