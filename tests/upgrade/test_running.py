"""Which changes of a contract go over nodes that serve the one before, and why the others do not: from the two
contracts alone, without a database."""

from __future__ import annotations

import pytest
from tests.upgrade.test_matrix import CHANGES, answered, loaded

from ninefold.cli.going_over import BEFORE
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.record import Known
from ninefold.upgrade.changes import changes
from ninefold.upgrade.running import Running, running
from ninefold.upgrade.shape import shape


def of(name: str) -> ServicePlan:
    plan = loaded(name).plan_for("postgresql")
    assert plan is not None
    return plan


def found(name: str) -> Running:
    before, after = of(""), of(name)
    outcome = answered(name)(shape(before.schema), Known(None, ()))
    return running(outcome, changes(outcome.stored, after.schema), before, after, BEFORE.wider)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_goes_over_running_nodes_or_it_is_said_why_not(name: str) -> None:
    wanted, over = CHANGES[name]["running"], found(name)
    if wanted is True:
        assert not over.refused
    else:
        assert any(wanted in each for each in over.refused), over.refused
