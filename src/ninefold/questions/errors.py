"""Part 7: the error shape, and the code of each condition that can arise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ninefold.contract.fact import Fact, StatedNone, value_of
from ninefold.diagnostics.source import Span
from ninefold.questions.conditions import Arising, arising
from ninefold.questions.question import (
    CODES,
    SHAPE,
    STATUS,
    At,
    OpenQuestion,
    first_unanswered,
    leaving_out,
    unanswered,
    within,
)
from ninefold.questions.survey import Survey


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    errors = survey.contract.errors
    place = survey.contract.document.part("errors").place
    enclosing = errors.shape.span if errors.shape is not None else place
    facts: tuple[Fact[Any] | None, ...] = (
        within(errors.shape, lambda shape: shape.media_type),
        within(errors.shape, lambda shape: shape.body),
    )
    if missing := first_unanswered(facts, enclosing):
        yield leaving_out(SHAPE, "shape", missing, "error bodies: each error is a bare status")
    for code in value_of(errors.codes) or ():
        if at := unanswered(code.status, code.span):
            yield leaving_out(STATUS, code.name, at, f"the code `{code.name}`: what it stands for is a bare status")
    yield from _codes(survey, place)


def _codes(survey: Survey, place: Span) -> Iterator[OpenQuestion]:
    codes = survey.contract.errors.codes
    if isinstance(codes, StatedNone):
        return
    every = arising(survey)
    coded = {(name.condition, name.subject) for code in value_of(codes) or () for name in value_of(code.when) or ()}
    own = {
        endpoint.key: {condition.text for condition, _ in value_of(endpoint.errors) or ()}
        for endpoint in survey.endpoints
    }
    without = tuple(
        each
        for each in every
        if not _has_code(each, coded) and own.get(each.endpoint or "", set()).isdisjoint({each.condition, each.text})
    )
    if not without and value_of(codes) is not None:
        return
    at = unanswered(codes, place) or At(codes.span if codes is not None else place)
    listed = in_short(without, every)
    if listed:
        text = f"the code of each condition that can arise here: {', '.join(f'`{name}`' for name in listed)}"
        yield leaving_out(CODES, ", ".join(listed), at, "codes: these conditions are bare statuses", text)


def in_short(without: Iterable[Arising], every: Iterable[Arising]) -> tuple[str, ...]:
    """The conditions without a code by name; narrowed where another of the same condition has one."""
    without = dict.fromkeys(without)
    coded = {each.condition for each in every if each not in without}
    return tuple(dict.fromkeys(each.text if each.condition in coded else each.condition for each in without))


def _has_code(each: Arising, coded: set[tuple[str, str | None]]) -> bool:
    """Whether a code is for the condition, or for the resource or the field that it is about."""
    about = each.about
    resource = about.partition(".")[0] if about else None
    return any((each.condition, subject) in coded for subject in (None, about, resource))
