"""A run: one random contract with rows of its own, and some requests, told to the service and the interpreter."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.agreement.asking import Askers
from tests.agreement.comparing import Pair, Scenario
from tests.agreement.contracts import contract
from tests.agreement.requests import rows
from tests.agreement.versions import compiled

from ninefold.diagnostics.diagnostic import has_errors


def run(seed: int, requests: int, to_all: bool = False, more: bool = False) -> int:
    """How many responses were equal; -1: the throw is no contract. Raises Disagreement at the first that is not.
    `to_all`: operations on all rows are among them. `more`: and what no other random contract says, by names, too."""
    scenario = Scenario(contract(seed, to_all, more), names=str(seed) if more or seed % 3 == 0 else None)
    loaded = compiled(scenario.contract)
    if loaded.checked is None or loaded.plan is None or has_errors(loaded.diagnostics):
        return -1
    random = Random(f"requests {seed}")
    scenario = replace(scenario, rows=tuple(rows(random, loaded.checked)))
    with Pair(loaded.checked, scenario.plan(loaded), scenario) as pair:
        asker = Askers(random, pair.interpreter)
        for asked in asker.requests(requests):
            asker.told(pair.tell(asked))
    return requests
