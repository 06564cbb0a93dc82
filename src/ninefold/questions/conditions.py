"""Which conditions can arise in a contract: what may refuse a request, as far as a code may be asked for it."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.survey import Survey
from ninefold.diagnostics.frozen import dataclass
from ninefold.language.conditions import STATUSES, Step, parameter_of
from ninefold.refusals import stated
from ninefold.refusals.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Arising:
    """A condition of the closed list that can arise at an endpoint (at any, where it is `None`), about a resource
    (`order`), a field (`user.email`) or nothing in particular."""

    condition: str
    about: str | None = None
    endpoint: str | None = None

    @property
    def text(self) -> str:
        return f"{self.condition} {self.about}" if self.about else self.condition


def arising(survey: Survey) -> tuple[Arising, ...]:
    """All conditions that can arise and have no code of their own where they are stated, in the order of the closed
    list. `precondition required` is among them nowhere: no contract can state yet that a request must carry a
    condition."""
    order = tuple(STATUSES)
    return tuple(sorted(dict.fromkeys(_found(survey)), key=lambda each: order.index(each.condition)))


def _found(survey: Survey) -> Iterator[Arising]:
    if survey.endpoints:
        yield from (Arising(each.condition) for each in stated.of_any(survey))
    for endpoint in survey.endpoints:
        for each in stated.of_case(survey, endpoint):
            if each.code is None and _is_asked(each):
                of_all = each.step in (Step.RATES, Step.ANY)
                yield Arising(each.condition, _about(each), None if of_all else endpoint.key)


def _is_asked(refusal: Refusal) -> bool:
    """Where no size is stated a bound holds all the same, and no contract is asked for its code; nor for one of a
    parameter alone."""
    if refusal.condition == "invalid":
        return True
    of_parameter = parameter_of(refusal.condition, refusal.subject) is not None
    return not of_parameter and (refusal.condition != "too large" or refusal.fact is not None)


def _about(refusal: Refusal) -> str | None:
    """What a code is asked for. One for all that is `invalid` will do, and for every credential that is not good."""
    if refusal.condition == "unauthenticated" or (refusal.condition == "invalid" and "." in (refusal.subject or "")):
        return None
    return refusal.subject
