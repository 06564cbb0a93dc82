"""Pairs of contracts that can both be asked: what they answer, beside what `diff` says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.contracts import contract_of, operator_of

from ninefold.ablate.ablate import Work, asked_of
from ninefold.ablate.compare import is_less, refuses, says_the_same
from ninefold.ablate.facts import Written, without, written
from ninefold.ablate.fixed import Whole
from ninefold.ablate.law import Change
from ninefold.ablate.rehearsal import Seen
from ninefold.diff.compare import diff
from ninefold.diff.finding import Difference
from ninefold.diff.meaning import felt, meaning
from ninefold.language.key import Kind
from ninefold.pipeline import Loaded, compile_tree


@dataclass(frozen=True)
class Answered:
    """A request that the two answer in another way."""

    where: str
    old: Seen
    new: Seen

    @property
    def words(self) -> str:
        return f"{self.where}: {_said(self.old)} -> {_said(self.new)}"


def _said(seen: Seen) -> str:
    return f"{seen.status} {seen.body[:120].decode('utf-8', 'replace')}"


def whole(directory: Path) -> Whole:
    contract = contract_of(directory)
    files = tuple((path.name, path.read_text(encoding="utf-8")) for path in sorted((directory / "http").glob("*.http")))
    return Work(contract.name, contract.read_bytes(), files, operator_of(directory)).whole()


@dataclass(frozen=True)
class Pair:
    name: str
    old: Loaded
    new: Loaded
    answers: list[Answered]


def pairs(of: Whole, facts: list[Written]) -> Iterator[Pair]:
    """The contract and what is left of it without each of some facts, both ways round."""
    for fact in facts:
        less = compile_tree(without(of.loaded.document, fact, "taken out"))
        if less.plan is None:
            continue
        found = [each for each in asked_of(of, less.plan) if not each.turns_on_a_tag]
        yield Pair(f"without {fact.address}", of.loaded, less, [_answered(each) for each in found])
        yield Pair(f"with {fact.address}", less, of.loaded, [_turned(each) for each in found])


def _answered(change: Change) -> Answered:
    return Answered(change.where, change.old, change.new)


def _turned(change: Change) -> Answered:
    return Answered(change.where, change.new, change.old)


def unsound(pair: Pair, found: Difference) -> Iterator[str]:
    """What is answered otherwise and not among the findings, or among what is called compatible, and is not."""
    assert pair.old.plan is not None and pair.new.plan is not None
    differs = felt(meaning(pair.old.plan), meaning(pair.new.plan))
    carried = "schema" in differs.rest
    for each in pair.answers:
        if says_the_same(each.old, each.new) and each.old.rows == each.new.rows and each.old.gone == each.new.gone:
            continue
        endpoints = {each.old.endpoint, each.new.endpoint}
        if carried and (not endpoints & {*differs.endpoints} or each.old.status == each.new.status):
            continue  # rows had to be carried into tables of another form, and are not quite the same
        told = (one for one in found.findings if one.verdict != "words")
        about = [one for one in told if endpoints & {*one.endpoints} or one.everywhere or not one.endpoints]
        if not about:
            yield f"not found: {each.words}"
        elif all(one.verdict in ("compatible", "opens") for one in about):
            if not (refuses(each.old) or is_less(each.old, each.new)):
                yield f"called {about[0].verdict} ({about[0].said}): {each.words}"


def facts_of(of: Whole) -> list[Written]:
    return [each for each in written(of.loaded.document) if each.kind is not Kind.TELLS]


def judged(pair: Pair) -> tuple[Difference, list[str]]:
    found = diff(pair.old, pair.new)
    return found, [f"{pair.name}: {each}" for each in unsound(pair, found)]
