"""Part 7 as the service reads it: which code answers a condition, and which error counts first."""

from __future__ import annotations

from functools import cached_property

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.language.conditions import STATUSES, precedence
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.fact import value_of
from ninefold.plan import problems
from ninefold.plan.problems import names


@dataclass(frozen=True)
class Codes:
    """Which code answers a condition, and which counts first: the contract's own words, read as the service does."""

    contract: Contract

    @cached_property
    def by_name(self) -> dict[str, ErrorCode]:
        return {each.name: each for each in value_of(self.contract.errors.codes) or ()}

    @cached_property
    def _conditions(self) -> dict[str, str]:
        return {
            f"{when.condition} {when.subject}" if when.subject else when.condition: code.name
            for code in self.by_name.values()
            for when in value_of(code.conditions) or ()
        }

    @cached_property
    def _ranks(self) -> dict[str, int]:
        stated = value_of(self.contract.errors.precedence) or ()
        return {name: rank for rank, name in enumerate(precedence([each.text for each in stated]))}

    def code(self, endpoint: Endpoint, condition: str, subject: str | None) -> str | None:
        """The code of a condition at an endpoint: the endpoint's own comes first, the narrower name before the
        wider. None: a bare status."""
        own = {name.text: code.text for name, code in value_of(endpoint.errors) or ()}
        found = names(condition, subject)
        code = next((codes[name] for codes in (own, self._conditions) for name in found if name in codes), None)
        stated = self.by_name.get(code or "")
        # A code that has no status is not told, and no wider one in its place.
        return None if stated is not None and value_of(stated.status) is None else code

    def narrowest(self, endpoint: Endpoint, condition: str, subject: str) -> str | None:
        """As much of a subject as part 7 or the endpoint tells apart; None: nothing of it."""
        own = {name.text for name, _ in value_of(endpoint.errors) or ()}
        told = own | self._conditions.keys() | self._ranks.keys()
        found = (each for each in names(condition, subject) if each in told and each != condition)
        return next((each.removeprefix(condition + " ") for each in found), None)

    def code_of_all(self, condition: str) -> str | None:
        """The code of a condition that leaves no endpoint."""
        return self._conditions.get(condition)

    def rank(self, endpoint: Endpoint, condition: str, subject: str | None, code: str | None) -> int:
        """The place in the precedence; `code`: the one that stands where the condition is stated. The lower counts."""
        own = {name.text for name, _ in value_of(endpoint.errors) or ()}
        tables = () if code is not None else (own, self._conditions)
        told = next((codes for codes in tables if any(name in codes for name in names(condition, subject))), ())
        return problems.rank(condition, subject, code is not None, told, self._ranks)

    def status(self, condition: str, code: str | None) -> int:
        """The status of a code, else the bare status of the condition."""
        stated = self.by_name.get(code or "")
        status = None if stated is None else value_of(stated.status)
        return status if status is not None else STATUSES.get(condition, 500)
