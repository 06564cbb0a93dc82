"""What the document is written from, and what the service is called; what OpenAPI has no words for: states with their
transitions, and what scripts of other origins may do."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec.structs import replace

from ninefold.checked import endpoints
from ninefold.checked.endpoints import ErrorShape
from ninefold.checked.service import Checked
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import states as stated
from ninefold.language.cases import Case
from ninefold.language.check import Check
from ninefold.language.endpoints import Endpoint as Stated
from ninefold.language.fact import Fact, Name, text_of, value_of
from ninefold.language.question import OpenQuestion
from ninefold.plan.operations import Compute, List, Operation, Read
from ninefold.plan.problems import DETAIL, ErrorCode
from ninefold.plan.responses import Response, carried
from ninefold.plan.routes import Served, in_case
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Pin, Version
from ninefold.plan.writes import Write
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import refusals
from ninefold.values import duration_text

Json: TypeAlias = dict[str, Any]
"""An object of the document."""


@dataclass(frozen=True)
class Endpoint:
    """One endpoint that is served, as three stages know it: the words of the contract, the types of what is checked,
    and what its route can answer, and refuse."""

    stated: Stated
    checked: endpoints.Endpoint
    route: Served
    refusals: tuple[Refusal, ...]

    @property
    def does(self) -> str:
        """What it does, in the contract's words: `create order`."""
        actions, call = value_of(self.stated.does) or (), self.stated.call
        if call is not None:
            actions = (call, *(each for each in actions if each.resource is not None))
        return ", ".join(each.written for each in actions)


@dataclass(frozen=True)
class Service:
    """A contract with what came of it."""

    contract: Contract
    checked: Checked
    plan: ServicePlan
    open_questions: tuple[OpenQuestion, ...]

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Those that are served, in written order; one with cases is one in each of them."""
        checked = {(each.key, _case(each.case)): each for each in self.checked.endpoints}
        return tuple(
            _endpoint(each, own, self.routes[each.key], self.plan)
            for each in value_of(self.contract.endpoints.endpoints) or ()
            if (own := checked.get((each.key, _case(each.case)))) is not None
        )

    @cached_property
    def routes(self) -> dict[str, Served]:
        """Those that are served, by their endpoints."""
        return {each.key: each for each in self.plan.routes if isinstance(each, Served)}

    @cached_property
    def doing_several(self) -> frozenset[str]:
        """The keys of endpoints whose cases do not all do the same."""
        first: dict[str, str] = {}
        return frozenset(
            each.stated.key for each in self.endpoints if first.setdefault(each.stated.key, each.does) != each.does
        )

    @cached_property
    def error_shapes(self) -> dict[str, ErrorShape | None]:
        """What the errors of each endpoint look like, by its key; None: as those of the service."""
        return {each.checked.key: each.checked.error_shape for each in reversed(self.endpoints)}

    @cached_property
    def codes(self) -> dict[str, ErrorCode]:
        return {each.name: each for each in self.plan.problems.codes}

    @cached_property
    def detailed(self) -> frozenset[str]:
        """The codes that have a detail."""
        return frozenset(each.name for each in self.checked.errors.codes if DETAIL in each.computed)

    @cached_property
    def callers(self) -> frozenset[str]:
        """Every scheme, and perhaps `anyone`, that something served admits."""
        return frozenset(admission.who for each in self.endpoints for admission in each.checked.admissions)

    def line(self, span: Span) -> int:
        """The line of the contract at which a fact begins."""
        return self.contract.line(span)

    def is_seen_by_all(self, resource: str) -> bool:
        """Whether no row of a resource is hidden from any caller."""
        rules = self.checked.row_rules.get(resource, {})
        return all(who in rules and rules[who] is None for who in self.callers)


def _case(case: Case | endpoints.Case | None) -> tuple[str | None] | None:
    return None if case is None else (case.name,)


def _endpoint(stated: Stated, checked: endpoints.Endpoint, route: Served, plan: ServicePlan) -> Endpoint:
    """An endpoint, its route as it is in its case."""
    number = 0
    if route.cases is not None and checked.case is not None:
        number = [case.name for case in route.cases.cases].index(checked.case.name) + 1
    own = replace(in_case(route, number), cases=None) if number else route
    refused = refusals(route, plan, number or None)
    return Endpoint(stated, checked, own, tuple(each for each in refused if _is_told(each, own)))


def _is_told(refusal: Refusal, route: Served) -> bool:
    """Who was given no entity tag has no condition to ask of what is only shown."""
    if refusal.condition != "precondition failed":
        return True
    return any(isinstance(each.operation, Write) or is_shown_with_tag(each.operation) for each in route.admissions)


def is_shown_with_tag(operation: Operation) -> bool:
    """Whether what is shown, without a change, has an entity tag, on which a client may ask conditions."""
    if not isinstance(operation, Read | List | Compute):
        return False
    return operation.conditional and has_tag(operation.response)


def has_tag(response: Response) -> bool:
    return response.revision is not None or response.digested


def info(service: Service) -> Json:
    """OpenAPI asks for a version of every document. It is the contract's newest, and where the contract has no
    versions, a digest of the contract, which tells two documents apart and promises nothing."""
    document = service.contract.document
    found: Json = {"title": service.plan.title or service.plan.name}
    purpose = value_of(service.contract.purpose.text)
    if purpose:
        found["description"] = purpose
    digest = sha256(document.source.text.encode("utf-8", "surrogatepass")).hexdigest()
    versions = service.plan.versions
    found["version"] = f"sha256-{digest[:12]}" if versions is None else versions.current
    return found


def servers(service: Service) -> list[Json]:
    """Relative to where the document is, since where a service runs is the operator's. A version in the path is part
    of the address; the address without one comes besides where the newest is the default, or may be."""
    base = "".join("/" + segment for segment in service.plan.base)
    versions = service.plan.versions
    if versions is None or versions.by != "path":
        return [{"url": base or "/"}]
    found = [{"url": f"{base}/{versions.current}"}]
    may_be = versions.default == versions.current or isinstance(versions.default, Pin)
    return [*found, {"url": base or "/"}] if may_be else found


def version_parameters(service: Service) -> list[Json]:
    versions = service.plan.versions
    if versions is None:
        return []
    pin = versions.default if isinstance(versions.default, Pin) else None
    text: Json = {"type": "string"}
    read = [{"name": name, "in": "header", "required": False, "schema": text} for name in pin.headers] if pin else []
    if versions.by in ("path", "media type"):
        return read
    schema: Json = {"type": "string", "enum": [versions.current]}
    optional = versions.default == versions.current
    if optional:
        schema["default"] = versions.current
    # A request of a caller whose version this is need not name it; whose it is no document can say.
    required = not optional and pin is None
    return [{"name": versions.name, "in": versions.by, "required": required, "schema": schema}, *read]


def version_of(service: Service) -> Version | None:
    """The version that the document is of."""
    versions = service.plan.versions
    return None if versions is None else next(each for each in versions.versions if each.name == versions.current)


def carried_headers(status: str, route: Served | None, service: Service) -> Json:
    """What every answer carries, but `Vary`, which is for caches; one that says that there is too much to do may not
    know of which endpoint and version it is, nor one before its case is known what that says. `Link` (RFC 5829) leads
    to the version above where that has the endpoint."""
    version, versions, text = version_of(service), service.plan.versions, {"type": "string"}
    of_version = () if version is None else version.carries
    own, of_any_case = ((), ()) if route is None else (route.carries, service.routes[route.key].carries)
    always = {each.name for each in (*of_version, *of_any_case)} if status < "500" else set()
    found: Json = {each.name: {"required": each.name in always, "schema": text} for each in carried(of_version, own)}
    newest, *_ = value_of(service.contract.versioning.versions) or (None,)
    ends = found.keys() & {"Deprecation", "Sunset"}
    if (
        versions is not None
        and ends
        and versions.by in ("path", "query")
        and newest is not None
        and newest.name != versions.current
    ):
        found["Link"] = {"required": False, "schema": text}
    return found


def cors(service: Service) -> Json:
    """What scripts of other origins may do. Its headers are a browser's to read, and stand at no response."""
    found = service.plan.cors
    if found is None:
        return {}
    told = _given(
        origins="all" if found.origins is None else list(found.origins),
        headers=list(found.headers) or None,
        exposed=list(found.exposed) or None,
        credentials=found.credentials or None,
        **{"max age": None if found.max_age is None else duration_text(found.max_age * 1_000_000)},
        preflight=found.preflight,
    )
    return {"cors": told | {"line": found.trace[0].line}}


def states(service: Service) -> Json:
    """The machine of each resource that has one."""
    machines: Json = {}
    for each in value_of(service.contract.states.machines) or ():
        machine = value_of(each.machine)
        if machine is not None:
            machines[each.resource.text] = _machine(each.resource.text, machine, service)
    return {"states": machines} if machines else {}


def _machine(resource: str, machine: stated.Machine, service: Service) -> Json:
    own = service.contract.resources_by_name.get(resource)
    field, initial = None if own is None else own.state, text_of(machine.initial)
    left = {state.text for each in value_of(machine.transitions) or () for state in value_of(each.origin) or ()}
    return _given(
        field=None if field is None else field.text,
        initial=initial,
        states=_names(machine.states),
        final=[each.text for each in value_of(machine.states) or () if each.text not in left] or None,
        gone=_names(machine.gone),
        transitions={each.name: _transition(each, service) for each in value_of(machine.transitions) or ()},
    ) | {"line": service.line(machine.span)}


def checked(stated_: Check, service: Service) -> Json:
    """A check, with its error as callers know it."""
    if stated_.code is None:
        return {"that": stated_.that.text}
    name = stated_.code.text
    return {"that": stated_.that.text, "else": service.codes[name].known_as if name in service.codes else name}


def _transition(stated_: stated.Transition, service: Service) -> Json:
    after = value_of(stated_.after)
    return {
        "from": _names(stated_.origin) or [],
        **_given(
            to=text_of(stated_.to),
            check=[checked(each, service) for each in value_of(stated_.check) or ()] or None,
            sets={each.name: each.value.text for each in value_of(stated_.sets) or ()} or None,
            after=duration_text(after) if isinstance(after, int) else None if after is None else after.text,
        ),
        "line": service.line(stated_.span),
    }


def taken(name: str, endpoint: Endpoint, service: Service) -> Json:
    """A transition that an endpoint takes."""
    resource = endpoint.checked.resource
    machine = service.contract.machine(resource or "")
    transitions = () if machine is None else value_of(machine.transitions) or ()
    return next(_transition(each, service) for each in transitions if each.name == name)


def _names(fact: Fact[tuple[Name, ...]] | None) -> list[str] | None:
    names = value_of(fact)
    return None if names is None else [each.text for each in names]


def _given(**members: object) -> Json:
    return {name: value for name, value in members.items() if value is not None}
