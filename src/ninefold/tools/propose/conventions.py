"""The conventions: for which questions there is one, who recommends it, and what it says in a given contract.

Who may call, which rows are seen, what the service is and does: no convention knows. Neither does one say how large
a body may be (RFC 9110 has no bound), how long a request may take, how long an idempotency key is kept
(draft-ietf-httpapi-idempotency-key-header leaves it to the service), which rates hold, or whether there are
versions. These questions stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ninefold.contract.questions.question import STATES
from ninefold.contract.survey import Survey, actions
from ninefold.contract.writes import changed_rows
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import ast
from ninefold.language.authentication import UNSEEN_ROWS
from ninefold.language.effects import Effect
from ninefold.language.endpoints import ENDPOINTS, PATCH, PRODUCES
from ninefold.language.errors import CODES, SHAPE, STATUS
from ninefold.language.events import DELIVERY, Webhooks
from ninefold.language.fact import Fact, Gap, Name, Shown, is_open, value_of
from ninefold.language.json_schema import TELLING
from ninefold.language.limits import LIMITS, PAGES, RATES
from ninefold.language.question import Question
from ninefold.language.requests import ORDER, REQUEST_MEDIA_TYPE, UNKNOWN_MEMBERS, UNKNOWN_PARAMETERS
from ninefold.language.resources import ON_DELETE, PRIMARY_KEY, TYPE, Field, Resource
from ninefold.language.responses import RESPONSES
from ninefold.language.states import MACHINE
from ninefold.language.verbs import SUBSCRIPTION, kind_of
from ninefold.language.versioning import COMPATIBLE
from ninefold.tools.propose.facts import (
    ADDING,
    BY_IDENTIFIER,
    CLOUD_EVENTS,
    CODED,
    EVENT_STREAM,
    HIDDEN,
    JSON,
    MERGE,
    NEWEST_FIRST,
    PAGED,
    PROBLEM,
    RATE_HEADERS,
    REFERENTIAL,
    SHOWN,
    STATELESS,
    STRICT,
    UUID,
    WEBHOOKS,
    Proposed,
    Value,
)
from ninefold.tools.propose.responses import codes, pages, responses, shape, status

Facts: TypeAlias = Callable[[Survey, str], tuple[Proposed, ...]]
"""What a convention proposes in a contract about the subject of a question; nothing where it does not apply."""


@dataclass(frozen=True, slots=True)
class Convention:
    """One row of the table. `text`: what is proposed, in words. `beside`: no question asks for it; it is proposed
    where the question has its answer, and the key is not written."""

    question: Question
    text: str
    source: str
    facts: Facts
    beside: bool = False


def _at(part: int, *path: str, value: Value, source: str) -> Facts:
    """A fact that is the same in every contract."""
    return lambda survey, subject: (Proposed(part, path, value, source),)


# Resources

A_UUID = "{type: string, format: uuid, on create: uuid()}"


def _identifier(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """`id`, a UUID. A field that is there and is something else is left alone."""
    resource = survey.graph.resources.get(subject)
    if resource is None or is_open(resource.fields) or _is_ensured(survey, subject):
        return ()
    if not is_open(resource.primary_key):
        return tuple(_makers(resource))
    named = Proposed(2, (subject, "primary key"), "id", UUID, first=True)
    if any(field.name == "id" for field in value_of(resource.fields) or ()):
        return (named,)
    return named, Proposed(2, (subject, "fields", "id"), A_UUID, UUID, first=True)


def _is_ensured(survey: Survey, resource: str) -> bool:
    """Whether rows are made where they are not there yet: then what identifies them means something."""
    making = (e for e in survey.endpoints if "created" in e.outcomes)
    return any(kind_of(a.verb).may_make and a.subject == resource for e in making for a in actions(e))


def _makers(resource: Resource) -> Iterator[Proposed]:
    names = {name.text for name in value_of(resource.primary_key) or ()}
    for field in value_of(resource.fields) or ():
        if field.name in names and is_open(field.on_create) and _may_be_a_uuid(field):
            yield Proposed(2, (resource.name, "fields", field.name, "on create"), "uuid()", UUID)


def _may_be_a_uuid(field: Field) -> bool:
    """A text of which nothing is said that a UUID could break."""
    schema = value_of(field.schema)
    if schema is None or schema.json.get("type") != "string":
        return False
    return schema.json.get("format", "uuid") == "uuid" and set(schema.json) - TELLING <= {"type", "format"}


def _type(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """The type of a primary key of which nothing is said at all."""
    name, _, member = subject.partition(".")
    resource = survey.graph.resources.get(name)
    identifier = [each.text for each in value_of(resource.primary_key) or ()] if resource is not None else []
    field = survey.graph.fields.get(name, {}).get(member)
    if identifier != [member] or field is None or not is_open(field.on_create):
        return ()
    said = value_of(field.schema)
    if said is not None and set(said.json) - TELLING:
        return ()
    path = (name, "fields", member)
    if isinstance(field.schema, Gap):
        return (Proposed(2, path, A_UUID, UUID),)
    each: tuple[tuple[str, str], ...] = (("type", "string"), ("format", "uuid"), ("on create", "uuid()"))
    return tuple(Proposed(2, (*path, key), value, UUID) for key, value in each)


def _on_delete(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    resource, _, field = subject.partition(".")
    return (Proposed(2, (resource, "fields", field, "on delete"), "restrict", REFERENTIAL),)


# States


def _states(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """None, of each resource that is written, has no state among its fields, and takes no transition."""
    moved = {action.subject for endpoint in survey.endpoints for action in actions(endpoint) if action.is_transition}
    known = moved | survey.contract.machines.keys()
    return tuple(
        Proposed(3, (name,), "none", STATELESS)
        for name, fields in survey.graph.fields.items()
        if subject in ("states", name) and survey.writing_to(name) and name not in known
        if not any(_is_state(field) for field in fields.values())
    )


def _is_state(field: Field) -> bool:
    return isinstance(field.state, Shown) and field.state.value


# Endpoints


def _media_types(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """How requests and responses are written, said before there is an endpoint."""
    facts = survey.contract.endpoints
    found: list[Proposed] = []
    if facts.requests is None:
        found += [
            Proposed(4, ("requests", "media type"), "application/json", JSON),
            Proposed(4, ("requests", "unknown members"), "refused", STRICT),
            Proposed(4, ("requests", "unknown parameters"), "refused", STRICT),
        ]
    if facts.produces is None:
        found.append(Proposed(4, ("produces",), "application/json", JSON))
    return tuple(found)


def _patch(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    return (Proposed(4, (subject, "patch"), "merge", MERGE),)


def _order(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """By the time of creation, if rows keep it; else by primary key."""
    path = (subject, "sort")
    endpoint = survey.contract.endpoints_by_key.get(subject)
    if endpoint is None:
        return ()  # it is of an older version alone
    resource = next((a.subject for a in actions(endpoint) if kind_of(a.verb).lists), None) or ""
    given = _given_otherwise(survey, resource)
    for name, field in survey.graph.fields.get(resource, {}).items():
        if name not in given and _is_time_of_creation(field):
            return (Proposed(4, path, f"[-{name}]", NEWEST_FIRST),)
    own = survey.graph.resources.get(resource)
    identifier = ", ".join(name.text for name in value_of(own.primary_key) or ()) if own is not None else ""
    return (Proposed(4, path, f"[{identifier}]", BY_IDENTIFIER),) if identifier else ()


def _is_time_of_creation(field: Field) -> bool:
    """Whatever it is called: rows are made with it, and no write gives it another value."""
    schema, made = value_of(field.schema), value_of(field.on_create)
    if schema is None or schema.json.get("format") != "date-time" or field.on_change is not None:
        return False
    return made is not None and isinstance(made.ast, ast.Name) and made.ast.name == "now"


def _given_otherwise(survey: Survey, resource: str) -> set[str]:
    """The fields that bodies, `sets` and effects give rows of a resource, also where time alone takes a transition."""
    found: set[str] = set()
    effects: list[Effect] = []
    for endpoint in survey.endpoints:
        for change in changed_rows(survey, endpoint):
            if change.resource.name == resource:
                found |= change.body.union(change.sets)
        effects += survey.effects(endpoint)
    for name in survey.contract.machines:
        machine = survey.contract.machine(name)
        for transition in (value_of(machine.transitions) or ()) if machine is not None else ():
            also = value_of(transition.also)
            effects += also or ()
            found |= {each.name for each in value_of(transition.sets) or () if name == resource}
    return found | {each.name for effect in effects if effect.subject == resource for each in effect.sets}


# Events


def _delivery(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """What is not said of webhooks or of a stream; of neither is anything said, then what is served decides."""
    delivery = value_of(survey.contract.events.delivery)
    webhooks = tuple(_webhooks(value_of(delivery.webhooks) if delivery is not None else None))
    stream = tuple(_stream(delivery.stream if delivery is not None else None))
    if subject == "delivery" and any(each.streams for each in survey.endpoints):
        return (*webhooks, *stream) if any(survey.subscribes(each) for each in survey.endpoints) else stream
    if subject == "stream":
        return stream
    if subject == "envelope":
        envelope = value_of(delivery.envelope) if delivery is not None else None
        format = Proposed(6, ("delivery", "envelope", "format"), "cloudevents 1.0", CLOUD_EVENTS)
        return (format,) if envelope is None or is_open(envelope.format) else ()
    return webhooks if subject in ("webhooks", "delivery") else ()


def _envelope(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """What carries the kind of an event, where webhooks are stated and nothing is said of it."""
    delivery = value_of(survey.contract.events.delivery)
    kinds = value_of(survey.contract.events.kinds) or ()
    if delivery is None or not isinstance(delivery.webhooks, Shown) or delivery.envelope is not None or len(kinds) < 2:
        return ()
    path = ("delivery", "envelope")
    return (
        Proposed(6, (*path, "format"), "cloudevents 1.0", CLOUD_EVENTS),
        Proposed(6, (*path, "source"), "\"'/'\"", CLOUD_EVENTS),
    )


def _webhooks(said: Webhooks | None) -> Iterator[Proposed]:
    path = ("delivery", "webhooks")
    if said is None or is_open(said.to):
        yield Proposed(6, (*path, "to"), SUBSCRIPTION, WEBHOOKS)
    if said is None or is_open(said.signature):
        yield Proposed(6, (*path, "signature"), "standard-webhooks", WEBHOOKS)
    if said is None or is_open(said.attempts):
        yield Proposed(6, (*path, "attempts"), "10", WEBHOOKS)
    if said is None or is_open(said.backoff):
        waits = "[PT5S, PT5M, PT30M, PT2H, PT5H, PT10H, PT14H, PT20H, PT24H]"
        yield Proposed(6, (*path, "backoff"), waits, WEBHOOKS)


def _stream(said: Fact[tuple[Name, ...]] | None) -> Iterator[Proposed]:
    """How long events are kept is nobody's convention."""
    if is_open(said):
        yield Proposed(6, ("delivery", "stream"), "server-sent events", EVENT_STREAM)


# Limits


def _pages(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    endpoint = survey.contract.endpoints_by_key.get(subject)
    return () if endpoint is None else pages(survey, endpoint)


def _limits(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """Page bounds, where there are lists or it is not said yet which endpoints there are."""
    lists = [e for e in survey.endpoints if e.lists]
    if lists:
        return pages(survey, lists[0])
    return pages(survey, None) if is_open(survey.contract.endpoints.endpoints) else ()


def _rate_headers(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    if not value_of(survey.contract.limits.rates) or survey.contract.limits.headers is not None:
        return ()
    return (Proposed(8, ("rate headers",), "[RateLimit-Policy, RateLimit, Retry-After]", RATE_HEADERS),)


_ADDITIONS = (
    "[add a resource, add an optional field, add an endpoint, add an optional parameter, add a response member]"
)

CONVENTIONS = (
    Convention(PRIMARY_KEY, "a UUID, made by the service", UUID, _identifier),
    Convention(TYPE, "of a primary key: a UUID, made by the service", UUID, _type),
    Convention(ON_DELETE, "it is refused", REFERENTIAL, _on_delete),
    Convention(STATES, "none, where nothing is a state", STATELESS, _states),
    Convention(MACHINE, "none, where nothing is a state", STATELESS, _states),
    Convention(ENDPOINTS, "no endpoint, but JSON, and that what no fact names is refused", JSON, _media_types),
    Convention(PATCH, "as a merge patch", MERGE, _patch),
    Convention(RESPONSES, "the status that HTTP has for it, and the row or the page", SHOWN, responses),
    Convention(ORDER, "newest first if rows keep their time of creation, else by primary key", NEWEST_FIRST, _order),
    Convention(REQUEST_MEDIA_TYPE, "JSON", JSON,
               _at(4, "requests", "media type", value="application/json", source=JSON)),
    Convention(UNKNOWN_MEMBERS, "they are refused", STRICT,
               _at(4, "requests", "unknown members", value="refused", source=STRICT)),
    Convention(UNKNOWN_PARAMETERS, "they are refused", STRICT,
               _at(4, "requests", "unknown parameters", value="refused", source=STRICT)),
    Convention(PRODUCES, "JSON", JSON,
               _at(4, "produces", value="application/json", source=JSON)),
    Convention(UNSEEN_ROWS, "it is not found", HIDDEN, _at(5, "unseen rows", value="not found", source=HIDDEN)),
    Convention(DELIVERY, "by signed webhooks, or by a stream where only one is served", WEBHOOKS, _delivery),
    Convention(DELIVERY, "an envelope that carries the kind", CLOUD_EVENTS, _envelope, beside=True),
    Convention(SHAPE, "problem details", PROBLEM, shape),
    Convention(CODES, "one for each condition, titled with the phrase of its status", CODED, codes),
    Convention(STATUS, "the bare status of its conditions", CODED, status),
    Convention(LIMITS, "page bounds alone", PAGED, _limits),
    Convention(PAGES, "20, and at most 100, by cursor", PAGED, _pages),
    Convention(RATES, "headers that tell of the rates", RATE_HEADERS, _rate_headers, beside=True),
    Convention(COMPATIBLE, "additions", ADDING, _at(9, "compatible", value=_ADDITIONS, source=ADDING)),
)  # fmt: skip
"""The table, in the order of the parts. A question that is not in it stays open."""
