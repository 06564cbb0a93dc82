"""What the document is written from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from msgspec.structs import replace

from ninefold.checked import endpoints
from ninefold.checked.endpoints import ErrorShape
from ninefold.checked.service import Checked
from ninefold.contract.service import Contract
from ninefold.diagnostics.source import Span
from ninefold.language.cases import Case
from ninefold.language.endpoints import Endpoint as Stated
from ninefold.language.fact import value_of
from ninefold.plan.problems import DETAIL, ErrorCode
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.questions.question import OpenQuestion
from ninefold.refusals.refusal import Refusal
from ninefold.refusals.served import refusals

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
            actions = (call, *(each for each in actions if each.verb != "compute"))
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
        routes = {each.key: each for each in self.plan.routes if isinstance(each, Served)}
        return tuple(
            _endpoint(each, own, routes[each.key], self.plan)
            for each in value_of(self.contract.endpoints.endpoints) or ()
            if (own := checked.get((each.key, _case(each.case)))) is not None
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
        return frozenset(each.name for each in self.checked.errors.codes if DETAIL in each.said)

    @cached_property
    def callers(self) -> frozenset[str]:
        """Every scheme, and perhaps `anyone`, that something served admits."""
        return frozenset(admission.who for each in self.endpoints for admission in each.checked.admissions)

    def line(self, span: Span) -> int:
        """The line of the contract at which a fact begins."""
        return self.contract.document.source.place(span.start).line

    def is_seen_by_all(self, resource: str) -> bool:
        """Whether no row of a resource is hidden from any caller."""
        rules = self.checked.row_rules.get(resource, {})
        return all(who in rules and rules[who] is None for who in self.callers)


def _case(case: Case | endpoints.Case | None) -> tuple[str | None] | None:
    return None if case is None else (case.name,)


def _endpoint(stated: Stated, checked: endpoints.Endpoint, route: Served, plan: ServicePlan) -> Endpoint:
    """An endpoint, its route as it is in its case."""
    if route.cases is None or checked.case is None:
        return Endpoint(stated, checked, route, refusals(route, plan))
    number = [case.name for case in route.cases.cases].index(checked.case.name) + 1
    own = tuple(each for each in route.admissions if each.case == number)
    in_case = replace(route, admissions=own, body=route.cases.cases[number - 1].body, cases=None)
    return Endpoint(stated, checked, in_case, refusals(route, plan, number))
