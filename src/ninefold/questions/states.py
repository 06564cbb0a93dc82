"""Part 3: the states of each resource, or none; the ends of each transition."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.states import Machine
from ninefold.contract.survey import Survey
from ninefold.language.fact import value_of
from ninefold.questions.question import (
    FROM,
    INITIAL,
    MACHINE,
    STATES,
    TO,
    OpenQuestion,
    blocking,
    unanswered,
)


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
    for name, fact in survey.machines.items():
        if (machine := value_of(fact)) is not None:
            yield from _of_machine(survey, name, machine)


def _of_machine(survey: Survey, resource: str, machine: Machine) -> Iterator[OpenQuestion]:
    if at := unanswered(machine.field, machine.span):
        text = f"the field that shows the state of `{resource}`"
        yield blocking(MACHINE, resource, at, survey.writing_to(resource), text)
    if at := unanswered(machine.states, machine.span):
        yield blocking(MACHINE, resource, at, survey.writing_to(resource))
    if at := unanswered(machine.initial, machine.span):
        yield blocking(INITIAL, resource, at, survey.creating(resource))
    for transition in value_of(machine.transitions) or ():
        subject = f"{transition.name} {resource}"
        taking = survey.taking(resource, transition.name)
        if at := unanswered(transition.origin, transition.span):
            yield blocking(FROM, subject, at, taking)
        if at := unanswered(transition.to, transition.span):
            yield blocking(TO, subject, at, taking)
