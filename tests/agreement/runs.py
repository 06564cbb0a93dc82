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
from ninefold.pipeline import Loaded


def is_one(loaded: Loaded) -> bool:
    """Whether a throw is a contract."""
    return loaded.plan is not None and not has_errors(loaded.diagnostics)


def run(seed: int, requests: int, to_all: bool = False, more: bool = False, database: str = "sqlite") -> int:
    """How many responses were equal; -1: the throw is no contract. Raises Disagreement at the first that is not.
    `to_all`: operations on all rows are among them. `more`: and what no other random contract says, by names, too.
    `database`: or `postgresql`, by whose clock rates count, so that over it there are none."""
    names = str(seed) if more or seed % 3 == 0 else None
    scenario = Scenario(contract(seed, to_all, more), names=names, database=database)
    loaded = compiled(scenario.contract)
    if not is_one(loaded):
        return -1
    assert loaded.checked is not None, "it has a plan"
    random = Random(f"requests {seed}")
    plan = scenario.plan(loaded)
    if plan.dialect == "postgresql" and plan.limits.rates:
        return -1
    scenario = replace(scenario, rows=tuple(rows(random, loaded.checked)))
    with Pair(loaded.checked, plan, scenario) as pair:
        asker = Askers(random, pair.interpreter)
        for asked in asker.requests(requests):
            asker.told(pair.tell(asked))
    return requests
