"""What stands between one endpoint and being served: open questions, what is not in force, and what the operator has
not given, the shortest answer first.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from ninefold.checked.service import Checked
from ninefold.contract.questions.ask import shows_nothing
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source
from ninefold.language.authentication import ANYONE
from ninefold.language.fact import value_of
from ninefold.language.question import OpenQuestion
from ninefold.language.shapes import describe
from ninefold.plan.service import OperatorValue
from ninefold.tools.answers import effort, keys_answering

WIDTH = 100
"""Columns of the text."""

_PREFIX = "not in force in this build: "
"""What the checks say before such a reason; here a heading says it of all."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """`questions` are open, the one with the shortest answer first. `not_in_force`: what is stated and not built, in
    words. `operator`: names of operator values that are not given. `has_errors`: the contract is wrong somewhere, so
    nothing of it is served, and whether something is in force cannot be told."""

    endpoint: str
    questions: tuple[OpenQuestion, ...]
    not_in_force: tuple[str, ...]
    operator: tuple[str, ...]
    has_errors: bool

    def __bool__(self) -> bool:
        """Whether anything stands in the way."""
        return bool(self.questions or self.not_in_force or self.operator or self.has_errors)


def endpoint_named(contract: Contract, written: str) -> str | None:
    """The key of the endpoint that is meant by a method and a path; the method may be in small letters."""
    method, _, path = " ".join(written.split()).partition(" ")
    keys = endpoints_of(contract)
    return next((key for key in (written, f"{method.upper()} {path}") if key in keys), None)


def endpoints_of(contract: Contract) -> tuple[str, ...]:
    """The keys of all endpoints, in written order."""
    return tuple(dict.fromkeys(endpoint.key for endpoint in value_of(contract.endpoints.endpoints) or ()))


def obstacles(
    endpoint: str,
    contract: Contract,
    open: Iterable[OpenQuestion],
    checked: Checked | None,
    missing: Iterable[OperatorValue],
) -> Obstacles:
    """What keeps an endpoint (by its key) from being served. `checked` is None where the contract has errors;
    `missing`: what the operator does not give."""
    asked = (each for each in open if endpoint in each.blocks)
    questions = sorted(asked, key=lambda each: (_effort(each, contract), len(each.blocks), each.span))
    return Obstacles(
        endpoint=endpoint,
        questions=tuple(questions),
        not_in_force=() if checked is None else tuple(_not_in_force(endpoint, questions, checked, contract)),
        operator=tuple(each.name for each in missing if endpoint in each.blocks),
        has_errors=checked is None,
    )


def _effort(each: OpenQuestion, contract: Contract) -> int:
    return effort(each.question, shows_nothing(contract.document.parts[each.question.part - 1]))


def _not_in_force(
    endpoint: str, questions: Iterable[OpenQuestion], checked: Checked, contract: Contract
) -> Iterator[str]:
    """The reasons besides open questions for which the checks have stopped the endpoint; and where it is served, that
    nobody can call it."""
    source = contract.document.source
    told = {f"not shown: {each.text} (line {source.place(each.span.start).line})" for each in questions}
    for stopped in checked.stopped:
        if stopped.key == endpoint:
            yield from (reason.removeprefix(_PREFIX) for reason in stopped.reasons if reason not in told)
    accepted = {ANYONE, *(scheme.name for scheme in checked.schemes if scheme.in_force)}
    for served in checked.endpoints:
        admitted = [admission.who for admission in served.admissions]
        if served.key == endpoint and not accepted & set(admitted):
            yield f"every caller is refused: no credential of {', '.join(admitted)} is accepted in this build"


def to_json(found: Obstacles, source: Source) -> dict[str, Any]:
    """The form of `ninefold gaps --for … --format json`. Lines and columns count from 1, columns in code points."""
    places = [(each, source.place(each.span.start)) for each in found.questions]
    return {
        "contract": source.name,
        "endpoint": found.endpoint,
        "served": not found,
        "errors": found.has_errors,
        "gaps": [
            {
                "part": each.question.part,
                "subject": each.subject,
                "question": each.text,
                "line": place.line,
                "column": place.column,
                "keys": [key.path for key in keys_answering(each.question)],
                "proposed": each.candidate,
            }
            for each, place in places
        ],
        "not in force": list(found.not_in_force),
        "operator": list(found.operator),
    }


def to_text(found: Obstacles, source: Source) -> str:
    """The same for a terminal, without colour, the sum of it first."""
    lines = [_summary(found)]
    if found.questions:
        lines += ["", "Open questions, the shortest answer first"]
        for each in found.questions:
            lines += ["", *_question(each, source, found.endpoint)]
    if found.not_in_force:
        lines += ["", "Not in force in this build", "", *_wrapped(found.not_in_force)]
    if found.operator:
        given = (f"operator.{name}: --set {name}=VALUE gives it" for name in found.operator)
        lines += ["", "Not given by the operator", "", *_wrapped(given)]
    return "\n".join([*lines, ""])


def _summary(found: Obstacles) -> str:
    if not found:
        return f"{found.endpoint}: nothing stands between it and being served."
    reasons = []
    if found.has_errors:
        reasons.append("the contract has errors")
    if found.questions:
        reasons.append(
            "1 question is open" if len(found.questions) == 1 else f"{len(found.questions)} questions are open"
        )
    if found.not_in_force:
        reasons.append("something that it needs is not in force")
    if found.operator:
        reasons.append("the operator has not given what it needs")
    return f"{found.endpoint} is not served: {'; '.join(reasons)}."


def _question(each: OpenQuestion, source: Source, endpoint: str) -> Iterator[str]:
    place = str(source.place(each.span.start))
    indent = " " * 11
    proposed = " (something is proposed)" if each.candidate else ""
    question = f"part {each.question.part}: {each.text}{proposed}"
    yield from textwrap.wrap(question, WIDTH, initial_indent=f"  {place:>7}  ", subsequent_indent=indent)
    keys = keys_answering(each.question)
    words = "; ".join(f"`{key.path}`: {describe(key.shape)}" for key in keys[:4])
    others = len([key for key in each.blocks if key != endpoint])
    if words:
        yield from textwrap.wrap(f"written as {words}", WIDTH, initial_indent=indent, subsequent_indent=indent)
    if others:
        yield f"{indent}also blocks {others} other endpoint{'' if others == 1 else 's'}"


def _wrapped(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ")
