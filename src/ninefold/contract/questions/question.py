"""The fixed list of questions, one visible table, and what an open one looks like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.authentication import (
    AUDIENCE,
    CALLERS,
    CREDENTIAL,
    GRANTED,
    LASTS,
    PRESENTED,
    ROWS,
    SCHEMES,
    UNSEEN_ROWS,
)
from ninefold.language.check import ELSE, THAT
from ninefold.language.endpoints import BODY, ENDED, ENDPOINTS, PATCH, PRODUCES
from ninefold.language.errors import CODES, SHAPE, STATUS
from ninefold.language.events import DELIVERY, KEPT, KINDS, PAYLOAD, UPON
from ninefold.language.fact import Fact, Gap, Proposal, Shown
from ninefold.language.limits import BODY_SIZE, KEYS, LIMITS, PAGES, RATE, RATES, TIMEOUT
from ninefold.language.question import OpenQuestion, Question
from ninefold.language.requests import DOES, ORDER, REQUEST_MEDIA_TYPE, UNKNOWN_MEMBERS, UNKNOWN_PARAMETERS
from ninefold.language.resources import FIELDS, ON_DELETE, PRIMARY_KEY, READABLE, TYPE
from ninefold.language.responses import CORS, RESPONSES
from ninefold.language.states import FROM, INITIAL, MACHINE, TO
from ninefold.language.versioning import CHANGES, COMPATIBLE, DEFAULT, VERSIONING, VERSIONS


@dataclass(frozen=True, slots=True)
class At:
    """Where an answer is missing, and whether a proposal stands there."""

    span: Span
    candidate: bool = False


def unanswered(fact: Fact[Any] | None, enclosing: Span) -> At | None:
    """Where the answer that a fact should give is missing: at its `not shown`, else at what should have said it.
    `None`: it is given. An empty mapping or list says nothing; that there is none is said by `none`."""
    match fact:
        case None:
            return At(enclosing)
        case Gap(span):
            return At(span)
        case Proposal(_, span):
            return At(span, candidate=True)
        case Shown((), span):
            return At(span)
        case _:
            return None


def first_unanswered(facts: Iterable[Fact[Any] | None], enclosing: Span) -> At | None:
    """The same of several facts that answer one question: a `not shown` that is written comes before silence."""
    missing = [(fact is None, at) for fact in facts if (at := unanswered(fact, enclosing))]
    return min(missing, key=lambda each: each[0])[1] if missing else None


def blocking(question: Question, subject: str, at: At, blocks: tuple[str, ...], text: str = "") -> OpenQuestion:
    """A gap that blocks endpoints."""
    words = text or question.about(subject)
    keys = tuple(dict.fromkeys(blocks))
    return OpenQuestion(question, subject, words, at.span, "blocks", keys, at.candidate)


def leaving_out(question: Question, subject: str, at: At, left_out: str, text: str = "") -> OpenQuestion:
    """A gap that leaves out a behaviour."""
    words = text or question.about(subject)
    return OpenQuestion(question, subject, words, at.span, "leaves out", (), at.candidate, left_out)


# What each part as a whole answers: asked alone where the part shows nothing.

PURPOSE = Question("purpose", 1, "what the service does", "leaves out", "nothing that a caller sees")
RESOURCES = Question("resources", 2, "which resources there are", "blocks", "every endpoint")
STATES = Question("states", 3, "which states there are, or none", "blocks", "the endpoints that write")

PART_QUESTIONS = (PURPOSE, RESOURCES, STATES, ENDPOINTS, SCHEMES, KINDS, SHAPE, LIMITS, VERSIONING)
"""By part: `PART_QUESTIONS[number - 1]`."""

# What is asked of a part that shows something.


QUESTIONS = (
    PURPOSE,
    RESOURCES, PRIMARY_KEY, FIELDS, TYPE, READABLE, ON_DELETE,
    STATES, MACHINE, INITIAL, FROM, TO,
    ENDPOINTS, DOES, BODY, PATCH, ENDED, RESPONSES, ORDER, THAT, ELSE,
    REQUEST_MEDIA_TYPE, PRODUCES, UNKNOWN_MEMBERS, UNKNOWN_PARAMETERS, CORS,
    SCHEMES, PRESENTED, CREDENTIAL, LASTS, GRANTED, AUDIENCE, CALLERS, ROWS, UNSEEN_ROWS,
    KINDS, UPON, PAYLOAD, DELIVERY, KEPT,
    SHAPE, CODES, STATUS,
    LIMITS, RATES, RATE, BODY_SIZE, TIMEOUT, KEYS, PAGES,
    VERSIONING, VERSIONS, DEFAULT, CHANGES, COMPATIBLE,
)  # fmt: skip
"""The whole list, in the order of the parts. `not shown` written for any other key is a gap too: `WRITTEN`."""

WRITTEN = Question("written", 0, "what `not shown` stands for at {}", "blocks", "what depends on it", "a key")
"""Asked of a key that no question asks for, where `not shown` is written. Its part is that of the key."""

PROPOSED = Question("proposed", 0, "whether {} is as it is proposed", "blocks", "what depends on it", "a key")
"""The same of a key for which a proposal is written, and nothing else."""
