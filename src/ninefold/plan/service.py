"""A whole service as data."""

from __future__ import annotations

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.plan.authentication import Issued, Scheme
from ninefold.plan.calls import Call
from ninefold.plan.events import Delivery
from ninefold.plan.jobs import Timer
from ninefold.plan.limits import Limits
from ninefold.plan.operator import OperatorOperations, Records
from ninefold.plan.problems import Problems
from ninefold.plan.routes import Cors, Route, Served
from ninefold.plan.said import Saying
from ninefold.plan.schema import Schema, Stored
from ninefold.plan.versioning import Versions


class NotInForce(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stated fact that this build does not put in force, and what that means for a caller."""

    what: str
    consequence: str
    place: Place


class Proposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact that is in force because proposals were accepted: `note.fields.id.on create`, and where it stands."""

    path: str
    place: Place


class OperatorValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """`operator.NAME`: given by the operator, never by the contract. `blocks`: the endpoints (as written) that
    cannot be served without it."""

    name: str
    places: tuple[Place, ...]
    blocks: tuple[str, ...] = ()


class ServicePlan(Saying, frozen=True, omit_defaults=True):
    """`name` is the document's name without its ending; `title` the contract's title. `base` are the path segments
    before those of every route. `said`: what parts say as a whole, but for limits, which have their own."""

    name: str
    title: str
    schema: Schema
    routes: tuple[Route, ...]
    problems: Problems
    base: tuple[str, ...] = ()
    schemes: tuple[Scheme, ...] = ()
    limits: Limits = Limits()
    delivery: Delivery | None = None
    """How events leave; None: the service writes none."""
    versions: Versions | None = None
    cors: Cors | None = None
    operator: tuple[OperatorValue, ...] = ()
    not_in_force: tuple[NotInForce, ...] = ()
    gaps: tuple[str, ...] = ()
    """Open questions in one line each: what the service leaves out."""
    proposals: tuple[Proposal, ...] = ()
    """What is in force only because proposals were accepted."""
    timers: tuple[Timer, ...] = ()
    records: Records | None = None
    operator_operations: tuple[OperatorOperations, ...] = ()
    """What the operator does with rows; no request reaches it."""
    stored: tuple[Stored, ...] = ()
    """What rows have to be that were there before the contract said so."""
    dialect: str = "sqlite"
    """Which database its statements are for."""

    @property
    def issuing(self) -> dict[str, str]:
        """The schemes whose credentials the service issues, each with the resource of whose rows they are."""
        return {each.scheme: each.verified.resource for each in self.schemes if isinstance(each.verified, Issued)}

    def calls(self) -> dict[str, tuple[Call, tuple[str, ...]]]:
        """The functions that endpoints call, of any version, by name: how each is called, and by which endpoints."""
        found: dict[str, tuple[Call, tuple[str, ...]]] = {}
        older = () if self.versions is None else self.versions.versions
        for route in (*self.routes, *(route for version in older for route in version.routes)):
            for each in route.admissions if isinstance(route, Served) else ():
                if each.call is not None:
                    _, keys = found.get(each.call.function, (each.call, ()))
                    found[each.call.function] = each.call, tuple(dict.fromkeys((*keys, route.key)))
        return found
