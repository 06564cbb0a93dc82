"""`before.R`, where several rows change at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.events import Events
from ninefold.checked.resources import Resource
from ninefold.checks.effects import stated_effects
from ninefold.checks.findings import Findings
from ninefold.checks.responses import expressions_of
from ninefold.contract.service import Contract
from ninefold.expressions.before import reads_before
from ninefold.expressions.tree import Typed


def check_before(contract: Contract, resources: Mapping[str, Resource], events: Events, findings: Findings) -> None:
    """Says of effects on several rows that these are not known as they were."""
    for effect in stated_effects(contract):
        resource = resources.get(effect.subject)
        if effect.where is None or effect.verb == "delete" or resource is None:
            continue
        if any(map(reads_before, _asked(resource, effect.verb, events))):
            findings.left_for_later(
                f"`before.{resource.name}` of several rows at once",
                "an invariant that reads it fails, and an event has no value for it",
                effect.span,
            )


def _asked(resource: Resource, verb: str, events: Events) -> Iterator[Typed]:
    """What is asked of a row that changes so."""
    yield from (each.when for each in resource.invariants)
    for kind in events.kinds:
        for cause in kind.causes:
            if (cause.verb, cause.resource) == (verb, resource.name):
                yield from expressions_of(cause.payload)
                yield from () if cause.when is None else (cause.when,)
