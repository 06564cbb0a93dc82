"""Part 1: what the service does. Its prose is the answer."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.survey import Survey
from ninefold.questions.question import PURPOSE, OpenQuestion, leaving_out, unanswered


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    place = survey.contract.document.part("purpose").place
    if at := unanswered(survey.contract.purpose.text, place):
        yield leaving_out(PURPOSE, "purpose", at, "")
