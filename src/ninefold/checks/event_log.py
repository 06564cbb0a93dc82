"""Part 6: the log of events as the resource `event`, which endpoints read and nobody writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ninefold.checked.endpoints import Kept
from ninefold.checked.resources import Field, Resource
from ninefold.checks.findings import Findings
from ninefold.checks.model import Vocabulary
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.expressions import scope
from ninefold.expressions.ast import Invocation, Name, every
from ninefold.expressions.scope import ResourceShape
from ninefold.language.authentication import Every
from ninefold.language.expressions import expressions_in
from ninefold.language.fact import Shown, value_of
from ninefold.plan.events import EVENT, TOLD
from ninefold.values import Integer, Object, Text, Timestamp, Type

HAPPENED = Object(
    members={
        "id": Text(),
        "kind": Text(),
        "time": Timestamp(),
        "resource": Text(),
        "row": Text(),
        "payload": Object(),
    }
)
"""The root `event`: what has just happened, as the version of the row has it."""


TYPES: Mapping[str, Type] = {"position": Integer(), **HAPPENED.members}
"""The fields of an event, by the names that `event` has in `where` of webhooks; and its position in the log."""


def has_log(contract: Contract) -> Span | None:
    """Where the contract first reads the log as a resource, or says who is told of which events; None: it does not, or
    has an `event` of its own."""
    if any(each.name == EVENT for each in value_of(contract.resources.resources) or ()):
        return None
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        for action in value_of(endpoint.does) or ():
            if action.subject == EVENT:
                return action.span
    rules = value_of(contract.authentication.rows)
    stated = () if rules is None or isinstance(rules, Every) else rules
    ruled = (rule.resource.span for rule in stated if rule.resource.text == EVENT)
    return next(chain(ruled, _all_events((contract.resources, contract.endpoints, contract.authentication))), None)


def _all_events(facts: object) -> Iterator[Span]:
    """Each expression among some facts that holds `all(event)`."""
    for expression in expressions_in(facts):
        for node in every(expression.ast):
            match node:
                case Invocation(function="all", target=None, arguments=(Name(name),)) if name == EVENT:
                    yield expression.span
                case _:
                    pass


def kept_for(contract: Contract) -> int | None:
    """For how many microseconds an event can be read; None: without an end. Where it is a gap, nothing that reads one
    is served, and which it is is never seen."""
    kept = value_of(contract.events.kept)
    return kept if isinstance(kept, int) else None


def kinds_of(contract: Contract) -> tuple[str, ...]:
    """What the contract calls what happens. What was of another kind, which an earlier contract had, is not there."""
    return tuple(each.name for each in value_of(contract.events.kinds) or ())


def a_kind(names: Sequence[str]) -> dict[str, Any]:
    """The schema of one of some kinds; of any, where there are none."""
    return {"type": "string", **({"enum": [*names]} if names else {})}


def own_fields(types: Mapping[str, Type], schemas: Mapping[str, Any], place: Place) -> dict[str, Field]:
    """Fields that the language has itself: stored, and required of nobody."""
    return {
        name: Field(
            name=name, type=type_, schema=schemas[name], place=place, null_shown=False, required=False, stored=True
        )
        for name, type_ in types.items()
    }


def with_log(vocabulary: Vocabulary, contract: Contract) -> Vocabulary:
    """Expressions may read `event`, and `all(event)`."""
    shape = ResourceShape(EVENT, ("position",), TYPES, log=scope.Log(kept_for(contract), kinds=kinds_of(contract)))
    return replace(vocabulary, model={**vocabulary.model, EVENT: shape})


def with_streamed(vocabulary: Vocabulary, contract: Contract) -> Vocabulary:
    """Expressions may read of `event` what a stream tells of, where one says which. That is the log, whatever the
    contract calls `event`; how long a stream goes back is no question of which events it tells."""
    endpoints = value_of(contract.endpoints.endpoints) or ()
    if not any(each.where or each.filters for each in endpoints if each.streams):
        return vocabulary
    shape = ResourceShape(EVENT, ("position",), TYPES, log=scope.Log(None, kinds=kinds_of(contract)))
    return replace(vocabulary, model={**vocabulary.model, TOLD: shape})


def event(span: Span, findings: Findings) -> Resource:
    """The log as a resource. Its kinds, and whose rows they are about, are those that the contract has."""
    kinds = value_of(findings.contract.events.kinds) or ()
    resources = dict.fromkeys(
        action.subject for kind in kinds for action in value_of(kind.upon) or () if action.subject is not None
    )
    schemas: Mapping[str, Mapping[str, Any]] = {
        "position": {"type": "integer", "minimum": 1},
        "id": {"type": "string", "format": "uuid"},
        "kind": a_kind(kinds_of(findings.contract)),
        "time": {"type": "string", "format": "date-time"},
        "resource": {"type": "string", **({"enum": list(resources)} if resources else {})},
        "row": {"type": "string"},
        "payload": {},
    }
    place = findings.place(span)
    own = {name: replace(each, immutable=True) for name, each in own_fields(TYPES, schemas, place).items()}
    own |= {name: replace(own[name], unique=True) for name in ("position", "id")}
    return Resource(EVENT, place, ("position",), own, creation_stopped=("nobody writes the log",), log=True)


def check_kept(findings: Findings) -> Kept | None:
    """How long events are kept, where that is shown."""
    kept = findings.contract.events.kept
    return Kept(kept_for(findings.contract), findings.place(kept.span)) if isinstance(kept, Shown) else None
