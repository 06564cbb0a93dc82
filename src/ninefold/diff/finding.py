"""What is found of two contracts: one finding for each cause."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span
from ninefold.diff.verdicts import VERDICTS, Audience, Effect, Promise, Verdict, gravest


@dataclass(frozen=True, slots=True)
class Witness:
    """A request that shows it: what was answered, and what is. `by`: who sends it, of a row in which state."""

    request: str
    was: str
    now: str
    by: str = ""


HowOlder: TypeAlias = Literal["too", "alone", "perhaps"]
"""Of older versions: besides the newest one, and not in it; or something is another in them, which may come of this."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`address` is what it is about, as `ablate` calls facts; `endpoints` are those where it is felt, and
    `everywhere`: it is part of what is said of all. `kept`: the version of the new contract that still has the old
    behaviour, `kept_by_default`: it serves whoever names no version, too; None: none has, or none is promised.
    `older`: the older versions of the old contract in which it is felt (`how_older`). `told`: how many requests were
    told to find a witness; None: none was sought. `meant`: all that the two contracts say there, in a form that is the
    same however it is written. `not_asked_for`: what it is for others (`for_audience`). `of_versions`: a request shows
    it that names one of these; none: any request may. `unsought`: why no request is told to show it."""

    address: str
    part: int
    said: str
    effects: tuple[Effect, ...]
    endpoints: tuple[str, ...] = ()
    everywhere: bool = False
    old: Span | None = None
    new: Span | None = None
    uses: int = 0
    kept: str | None = None
    older: tuple[str, ...] = ()
    witness: Witness | None = None
    told: int | None = None
    meant: str = ""
    not_asked_for: tuple[Effect, ...] = ()
    kept_by_default: bool = False
    how_older: HowOlder = "too"
    of_versions: tuple[str, ...] = ()
    unsought: str = ""

    @property
    def verdict(self) -> Verdict:
        return gravest(self.effects)

    @property
    def audiences(self) -> tuple[Audience, ...]:
        """Whom the verdict is for."""
        return tuple(dict.fromkeys(each.audience for each in self.effects if each.verdict == self.verdict))

    @property
    def words(self) -> tuple[str, ...]:
        """The words of part 9 by which it is judged."""
        return tuple(dict.fromkeys(each.word for each in self.effects if each.word is not None))

    @property
    def fingerprint(self) -> str:
        """The same for the same finding, wherever it stands and however it is written."""
        meant, verdict = self.meant or self.said, gravest((*self.effects, *self.not_asked_for))
        return hashlib.sha256(f"{self.address}\0{meant}\0{verdict}".encode()).hexdigest()[:16]

    def for_audience(self, audience: Audience) -> Finding | None:
        """As it concerns one audience; None: it does not."""
        own = tuple(each for each in self.effects if each.audience == audience)
        others = tuple(each for each in self.effects if each.audience != audience)
        return replace(self, effects=own, not_asked_for=others) if own else None


@dataclass(frozen=True, slots=True)
class Difference:
    """All that is found. `withdrawn`: words of `compatible` that the new contract lists no more."""

    old: Source
    new: Source
    promise: Promise
    findings: tuple[Finding, ...]

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.verdict == verdict)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The gravest first, then by place."""
    return tuple(
        sorted(findings, key=lambda each: (VERDICTS.index(each.verdict), each.part, each.new or each.old or Span(0, 0)))
    )
