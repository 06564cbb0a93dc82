"""Part 7 as the service reads it: which code answers a condition, and which error counts first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.errors import ErrorCode
from ninefold.contract.fact import value_of
from ninefold.contract.service import Contract
from ninefold.meanings import BARE_STATUSES, precedence


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
            if value_of(code.status) is not None
            for when in value_of(code.when) or ()
        }

    @cached_property
    def _ranks(self) -> dict[str, int]:
        stated = value_of(self.contract.errors.precedence) or ()
        return {name: rank for rank, name in enumerate(precedence([each.text for each in stated]))}

    def code(self, endpoint: Endpoint, condition: str, subject: str | None) -> str | None:
        """The code of a condition at an endpoint: the endpoint's own comes first, the narrower name before the
        wider. None: a bare status."""
        own = {name.text: code.text for name, code in value_of(endpoint.errors) or ()}
        names = narrowed(condition, subject)
        return next((codes[name] for codes in (own, self._conditions) for name in names if name in codes), None)

    def narrowest(self, endpoint: Endpoint, condition: str, subject: str) -> str | None:
        """As much of a subject as part 7 or the endpoint tells apart; None: nothing of it."""
        own = {name.text for name, _ in value_of(endpoint.errors) or ()}
        told = own | self._conditions.keys() | self._ranks.keys()
        found = (each for each in narrowed(condition, subject) if each in told and each != condition)
        return next((each.removeprefix(condition + " ") for each in found), None)

    def code_of_all(self, condition: str) -> str | None:
        """The code of a condition that leaves no endpoint."""
        return self._conditions.get(condition)

    def rank(self, condition: str, subject: str | None, code: str | None) -> int:
        """The lower counts. A name that a condition has is that condition, also where a code is called so."""
        if code is not None and code in self._ranks and code not in BARE_STATUSES:
            return self._ranks[code]
        names = narrowed(condition, subject)
        return next((self._ranks[name] for name in names if name in self._ranks), len(self._ranks))

    def status(self, condition: str, code: str | None) -> int:
        """The status of a code, else the bare status of the condition."""
        stated = self.by_name.get(code or "")
        status = None if stated is None else value_of(stated.status)
        return status if status is not None else BARE_STATUSES.get(condition, 500)


def narrowed(condition: str, subject: str | None) -> tuple[str, ...]:
    """What a contract may call a condition, the narrowest first: `conflict user.email`, `conflict user`, `conflict`."""
    if subject is None:
        return (condition,)
    return tuple(dict.fromkeys((f"{condition} {subject}", f"{condition} {subject.partition('.')[0]}", condition)))
