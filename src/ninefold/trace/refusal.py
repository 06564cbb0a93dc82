"""What may refuse a request, as a value."""

from __future__ import annotations

from dataclasses import field
from typing import Unpack

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.language.conditions import About, Step, subject_of
from ninefold.plan.problems import Condition


@dataclass(frozen=True, slots=True)
class Refusal:
    """A condition of the closed list, perhaps narrowed to a subject (`not found article`), with the code that is stated
    for this alone. `step`: what finds it. `after`: how many operations of the endpoint are done before it is looked
    for. `trace`: where it is stated, as the plan knows it; `fact`, as the contract does, with what the request or the
    rows are like, in `words`, and the fixed `meanings` that have to do with it. `become`: it is asked of what rows have
    become. `of`: the condition of an operation in the plan that it is."""

    condition: str
    step: Step
    subject: str | None = None
    code: str | None = None
    trace: tuple[Place, ...] = ()
    fact: Span | None = None
    words: str = ""
    meanings: tuple[str, ...] = ()
    after: int = 0
    become: bool = False
    of: Condition | None = field(default=None, compare=False)


def told(
    condition: str,
    step: Step,
    at: Span | None = None,
    words: str = "",
    *meanings: str,
    trace: tuple[Place, ...] = (),
    code: str | None = None,
    after: int = 0,
    become: bool = False,
    **about: Unpack[About],
) -> Refusal:
    """The same by what it is about, as narrow as its condition may be. `at`: the fact of the contract."""
    return Refusal(condition, step, subject_of(condition, **about), code, trace, at, words, meanings, after, become)
