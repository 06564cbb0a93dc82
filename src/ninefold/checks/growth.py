"""What the lists of a contract cost as the rows become more: noted where no index serves them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.lists import Rules, asked, growing
from ninefold.checked.resources import Resource
from ninefold.checks.codes import GROWS
from ninefold.checks.findings import Findings
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.fact import value_of


def growth(
    contract: Contract,
    endpoints: Iterable[Endpoint],
    resources: Mapping[str, Resource],
    rules: Rules,
    findings: Findings,
) -> None:
    """One note for each list that costs the more, the more rows there are, with all the reasons."""
    reasons: dict[str, list[str]] = {}
    for endpoint in endpoints:
        wanted = asked(endpoint)
        if wanted is not None and endpoint.resource is not None:
            reasons.setdefault(endpoint.key, []).extend(growing(wanted, resources[endpoint.resource], rules))
    spans = {each.key: each.span for each in value_of(contract.endpoints.endpoints) or ()}
    for key, found in reasons.items():
        if found:
            findings.say(
                GROWS,
                f"`{key}` costs the more, the more rows there are",
                Label(spans[key], "; ".join(dict.fromkeys(found))),
            )
