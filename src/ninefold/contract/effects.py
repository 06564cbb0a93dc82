"""Parts 3 and 4: what changes of other rows when an operation is done, or a transition taken."""

from __future__ import annotations

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.expressions import Assignment, Expression


@dataclass(frozen=True, slots=True)
class Effect:
    """`verb`: `create`, `update`, `delete`, or a transition's name. `subject`: the resource, whose name is written at
    `named`. `row`: which row of it, `where`: which rows; neither: a new one, or the only one that there is. `each`: one
    is made for each item of this array."""

    verb: str
    subject: str
    named: Span
    row: Expression | None
    sets: tuple[Assignment, ...]
    span: Span
    where: Expression | None = None
    each: Expression | None = None

    @property
    def reads(self) -> tuple[Expression, ...]:
        """All that it reads, but for what is set."""
        return tuple(given for given in (self.row, self.where, self.each) if given is not None)
