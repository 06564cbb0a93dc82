"""What a record leaves open, by its declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ninefold.contract.questions.question import At, blocking, leaving_out, unanswered
from ninefold.diagnostics.source import Span
from ninefold.language.declaration import Declared, Each, One, members
from ninefold.language.fact import Fact, Shown
from ninefold.language.question import OpenQuestion, Question

Concerned: TypeAlias = Mapping[str, Callable[[str], tuple[str, ...]]]
"""The endpoints that a gap concerns, by the id of the question and its subject: those that it blocks, if it blocks; of
those of these questions that are not always asked, each is asked where there are some."""


def elsewhere(_: str) -> tuple[str, ...]:
    """Of a question that is asked, but not here."""
    return ()


def open_in(record: object, place: Span, concerned: Concerned, subject: str = "") -> Iterator[OpenQuestion]:
    """The open questions of a record that stands at a place, and of the records in it. `subject`: its name; none: it is
    a part, and what is asked about something else is asked there."""
    done: set[tuple[Question, str]] = set()
    for each in members(type(record)):
        question = each.question
        if question is not None and (question, _apart(each)) not in done and bool(question.of) == bool(subject):
            done.add((question, _apart(each)))
            yield from _asked(record, place, concerned, subject, question, _apart(each))
        fact = getattr(record, each.attribute)
        if isinstance(each.holding, Each) and isinstance(fact, Shown):
            for below in fact.value:
                yield from open_in(below, below.span, concerned, each.holding.about.format(below.name, subject))


def _apart(each: Declared) -> str:
    """The words of a key that is asked for apart from the others of its question: it has words of its own, and they are
    not asked one by one."""
    return each.asks if each.question is not None and not each.question.one_by_one else ""


def _asked(
    record: object, place: Span, concerned: Concerned, subject: str, question: Question, apart: str
) -> Iterator[OpenQuestion]:
    about = subject or question.subject or question.id
    endpoints = concerned[question.id](about) if question.id in concerned else ()
    found = missing(record, place, question, apart)
    if found is None or (question.id in concerned and question.asked and not endpoints):
        return
    each, at = found
    text = each.asks.replace("{}", f"`{subject}`")
    if question.effect == "blocks":
        yield blocking(question, about, at, endpoints, text)
    else:
        yield leaving_out(question, about, at, question.left_out.replace("{}", f"`{subject}`"), text)


def missing(record: object, place: Span, question: Question, apart: str = "") -> tuple[Declared, At] | None:
    """The member that leaves a question open, and where: what is written to be not shown comes before silence, but
    where each has words of its own."""
    found = [
        (fact is None, each, at)
        for each, fact, around in _facts(record, place, question)
        if _apart(each) == apart and (at := unanswered(fact, around))
    ]
    if not found:
        return None
    _, each, at = found[0] if question.one_by_one else min(found, key=lambda one: one[0])
    return each, at


def _facts(record: object, place: Span, question: Question) -> Iterator[tuple[Declared, Fact[Any] | None, Span]]:
    """What would answer a question, with the place around it."""
    for each in members(type(record)):
        if each.question is question and (each.when is None or each.when.holds_of(record)):
            fact = getattr(record, each.attribute)
            if isinstance(each.holding, One) and isinstance(fact, Shown):
                yield from _facts(fact.value, fact.span, question)
            else:
                yield each, fact, place
