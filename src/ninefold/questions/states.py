"""Part 3: the states of each resource, or none; the ends of each transition."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.survey import Survey
from ninefold.language.fact import value_of
from ninefold.language.states import FROM, INITIAL, MACHINE, TO
from ninefold.questions.open import Concerned, open_in
from ninefold.questions.question import STATES, OpenQuestion, blocking, unanswered


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    states = survey.contract.states
    place = survey.contract.document.part("states").place
    if at := unanswered(states.machines, place):
        yield blocking(STATES, "states", at, survey.writing)
        return
    if value_of(states.machines) is None:
        return  # none is stated
    for resource in survey.graph.resources:
        if at := unanswered(survey.machines.get(resource), place):
            yield blocking(MACHINE, resource, at, survey.writing_to(resource))
    concerned: Concerned = {
        MACHINE.id: survey.writing_to,
        INITIAL.id: survey.creating,
        FROM.id: survey.taking,
        TO.id: survey.taking,
    }
    for name, fact in survey.machines.items():
        if (machine := value_of(fact)) is not None:
            yield from open_in(machine, machine.span, concerned, name)
