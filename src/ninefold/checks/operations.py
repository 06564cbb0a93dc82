"""Part 4: what is done, put together of what has been checked of an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

from ninefold.checked.contents import Response
from ninefold.checked.operations import (
    BodyLeaf,
    BodyMember,
    Compute,
    Create,
    Delete,
    Ensure,
    Filter,
    List,
    Mutation,
    Pages,
    Read,
    Remove,
    Segment,
    SignIn,
    SignOut,
    Sorts,
    Stream,
    Takes,
    Update,
)
from ninefold.checked.resources import Effect, Guard, Resource, Transition
from ninefold.checks.bodies import body_constants, with_rules
from ninefold.checks.chosen import Chosen
from ninefold.checks.findings import Findings
from ninefold.checks.parameters import check_declared
from ninefold.checks.responses import mentions_total
from ninefold.contract import endpoints as stated
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Place
from ninefold.expressions.tree import Typed
from ninefold.language.verbs import Verb


class Common(TypedDict):
    """What operations have in common."""

    key: str
    place: Place
    kind: Verb
    resource: str | None
    response: Response
    segments: tuple[Segment, ...]
    row: Typed | None
    where: Typed | None
    guards: tuple[Guard, ...]
    validator: bool
    errors: Mapping[str, str]
    takes: Takes


def takes_of(
    endpoint: stated.Endpoint,
    resource: Resource | None,
    body: tuple[BodyLeaf, ...] | None,
    members: tuple[BodyMember, ...],
    contract: Contract,
    findings: Findings,
) -> Takes:
    """What of a request is declared."""
    return Takes(
        path=tuple(check_declared(endpoint.path, "path", contract, findings)),
        query=tuple(check_declared(endpoint.query, "query", contract, findings)),
        headers=tuple(check_declared(endpoint.request_headers, "header", contract, findings)),
        body=body,
        members=with_rules(members, endpoint, contract, findings),
        constants=() if resource is None else body_constants(endpoint, findings),
    )


def shows(
    common: Common,
    chosen: Chosen,
    digested: bool,
    filters: tuple[Filter, ...],
    sorts: Sorts | None,
    pages: Pages | None,
) -> Read | List | Compute | Stream:
    """What an endpoint does that changes nothing."""
    if common["kind"].name == "read":
        return Read(**common, digested=digested, projection=chosen.projection, expansion=chosen.expansion)
    if sorts is None or pages is None:
        return Stream(**common) if common["kind"].name == "stream events" else Compute(**common)
    return List(
        **common,
        filters=filters,
        sorts=sorts,
        pages=pages,
        total=mentions_total(common["response"]),
        projection=chosen.projection,
        expansion=chosen.expansion,
    )


@dataclass(frozen=True)
class Told:
    """What an endpoint may say of a change; of these each verb takes what it can have."""

    transition: Transition | None
    sets: tuple[tuple[str, Typed], ...]
    then: tuple[Effect, ...]
    untouched: Response
    known_by: tuple[str, ...]
    issues: str | None
    ends: Literal["presented", "others", "all"] | None
    further: tuple[Transition, ...]


def changes(common: Common, told: Told, edits: bool, of_all: tuple[Filter, ...] | None) -> Mutation:
    """What an endpoint does that changes something. `of_all`: the filters, where it does so to all rows."""
    kind, sets, then = common["kind"], told.sets, told.then
    if kind.changes:
        return Update(
            **common,
            then=then,
            patch="json-patch" if edits else "merge",
            transition=told.transition,
            sets=sets,
            issues=told.issues,
            ends=told.ends,
            further=told.further,
            of_all=of_all,
        )
    known, untouched = told.known_by, told.untouched
    match kind.name:
        case "create":
            return Create(**common, then=then, sets=sets, issues=told.issues, further=told.further)
        case "delete":
            return Delete(**common, then=then, of_all=of_all)
        case "ensure":
            return Ensure(**common, then=then, sets=sets, untouched=untouched, known_by=known, further=told.further)
        case "remove":
            return Remove(**common, then=then, untouched=untouched, known_by=known)
        case "sign out":
            return SignOut(**common, then=then, ends=told.ends)
        case _:
            return SignIn(**common, then=then, sets=sets, issues=told.issues, ends=told.ends, further=told.further)
