"""Conventions as proposals in a document: for each open question that has one, and for those that it opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ninefold.contract.survey import Survey
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.language.question import OpenQuestion
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.syntax.edits import edited
from ninefold.tools.propose.conventions import CONVENTIONS, Convention
from ninefold.tools.propose.facts import Proposed
from ninefold.tools.propose.layout import insertions

_MOST_ROUNDS = 8
"""An accepted proposal may open further questions, which may have conventions too. Three rounds are usual."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a convention says to a question: its facts, which belong together. `text`: the question in words."""

    convention: Convention
    subject: str
    text: str
    facts: tuple[Proposed, ...]

    @property
    def in_words(self) -> str:
        convention = self.convention
        sources = dict.fromkeys(fact.source for fact in self.facts)
        said = "; ".join(sources) if len(sources) <= 2 else convention.source
        return f"part {convention.question.part}: {self.text} ({said})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`text` is the document with all proposals in it; `open` are the questions that no proposal answers."""

    text: str
    answers: tuple[Answer, ...]
    open: tuple[OpenQuestion, ...]


def propose(loaded: Loaded) -> Outcome:
    """Propose what conventions say. `loaded`: a document without errors, read with its proposals accepted, so that
    nothing is proposed twice and what follows from a proposal is proposed too.

    A proposal that would not read back as it is meant, or would bring an error or a warning with it, is left out.
    """
    outcome, after = _rounds(loaded, stands=False)
    # Proposals that are well when they are accepted seldom do harm as they stand: that is asked of all of them at once.
    if after is not loaded and _harm(loaded, compile_tree(after.document)):
        outcome, _ = _rounds(loaded, stands=True)
    return outcome


def _rounds(loaded: Loaded, stands: bool) -> tuple[Outcome, Loaded]:
    """`stands`: whether each proposal is tried as it stands, too."""
    answers: list[Answer] = []
    tried: set[tuple[str, str]] = set()
    for _ in range(_MOST_ROUNDS):
        round_ = [each for each in _answers(loaded) if (each.convention.question.id, each.subject) not in tried]
        tried |= {(each.convention.question.id, each.subject) for each in round_}
        kept, loaded = _put_in(loaded, round_, stands)
        if not kept:
            break
        answers += kept
    return Outcome(loaded.source.text, tuple(answers), loaded.open_questions), loaded


def _answers(loaded: Loaded) -> Iterator[Answer]:
    survey = Survey(loaded.contract)
    for convention in CONVENTIONS:
        id = convention.question.id
        asked = {each.subject: each.text for each in loaded.open_questions if each.question.id == id}
        if convention.beside:
            asked = {} if asked else {"": "what no question asks for"}
        told: set[tuple[Proposed, ...]] = set()
        for subject, text in asked.items():
            # One fact may answer for several subjects, as page bounds do for all lists.
            if (facts := convention.facts(survey, subject)) and facts not in told:
                told.add(facts)
                yield Answer(convention, subject, text, facts)


def _put_in(loaded: Loaded, answers: list[Answer], stands: bool) -> tuple[list[Answer], Loaded]:
    """The answers that can stand in the document, and the document with them: all at once if that is well, else one
    by one."""
    if not answers:
        return [], loaded
    after = _with(loaded, answers, stands)
    if after is not None:
        return answers, after
    if len(answers) == 1:
        return [], loaded
    kept: list[Answer] = []
    for answer in answers:
        after = _with(loaded, [answer], stands)
        if after is not None:
            kept.append(answer)
            loaded = after
    return kept, loaded


def _with(loaded: Loaded, answers: list[Answer], stands: bool) -> Loaded | None:
    """The document with some proposals, if they are read as such and nothing is wrong with them when they are accepted;
    nor, if that is asked for, as it `stands`."""
    source = loaded.source
    edits = insertions(loaded.document, (fact for answer in answers for fact in answer.facts))
    if not edits:
        return None
    data = edited(source.text, edits).encode()
    after = compile_document(source.name, data, accept_proposals=True)
    harmed = _harm(loaded, after) or (stands and _harm(loaded, compile_tree(after.document)))
    return None if harmed else after


def _harm(before: Loaded, after: Loaded) -> bool:
    """Whether there is an error or a warning that there was not before."""
    return bool(_wrong(after) - _wrong(before))


def _wrong(loaded: Loaded) -> Counter[tuple[str, str]]:
    """What is more than a note."""
    said = loaded.diagnostics
    return Counter((each.code.id, each.message) for each in said if each.code.severity is not Severity.NOTE)
