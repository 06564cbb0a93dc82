"""What a question of the fixed list is, and what an open one looks like."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span

Effect: TypeAlias = Literal["blocks", "leaves out"]
"""What a gap does: an endpoint that it blocks answers 501 with an empty body; a behaviour that it leaves out
does not happen."""


@dataclass(frozen=True, slots=True)
class Question:
    """One row of the table. `text` asks about `{}`, which `of` stands for in the reference; a question about a
    whole part has neither. `asked` says when it is asked, where that is not always; `cost` says what a gap
    blocks or leaves out, and `left_out` the latter in full, with `{}` for the subject. `subject`: what it is about,
    where it has no `of` and that is not its id. `one_by_one`: its keys have words of their own, and the first that is
    open is asked for."""

    id: str
    part: int
    text: str
    effect: Effect
    cost: str
    of: str = ""
    asked: str = ""
    left_out: str = ""
    subject: str = ""
    one_by_one: bool = False

    @property
    def in_general(self) -> str:
        """The question in words, asked of any subject."""
        return self.text.replace("{}", SUBJECTS.get(self.of, self.of))

    def about(self, subject: str) -> str:
        """The question in words, asked of a subject."""
        return self.text.replace("{}", f"`{subject}`")


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A gap of a contract.

    `subject` is what the question is about (`order.total`, `GET /orders`), `text` the question in words, `span`
    the `not shown` if one is written and else what should have said it. `blocks` are endpoints, by their keys as
    written; `left_out` says in words what does not happen. `candidate`: a proposal stands there.
    """

    question: Question
    subject: str
    text: str
    span: Span
    effect: Effect
    blocks: tuple[str, ...] = ()
    candidate: bool = False
    left_out: str = ""


SUBJECTS = {
    "R": "a resource",
    "R.F": "a field",
    "T": "a transition",
    "E": "an endpoint",
    "S": "a scheme",
    "K": "a kind",
    "C": "a code",
    "N": "a rate",
    "V": "a version",
    "X": "a resource, a transition or an endpoint",
}
"""What the letters of the table stand for."""
