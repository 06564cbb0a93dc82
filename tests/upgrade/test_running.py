"""Which changes of a contract go over nodes that serve the one before, and why the others do not: from the two
contracts alone, without a database."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.contracts import SERVED, contract_of, plan_of
from tests.upgrade.test_matrix import CHANGES, answered, loaded

from ninefold.cli.going_over import BEFORE
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.record import Known
from ninefold.upgrade.changes import Outcome, changes
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


DELIVERING = [
    path for path in dict.fromkeys(map(contract_of, SERVED)) if "webhooks: {" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", DELIVERING, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_field_more_is_no_other_delivery(path: Path) -> None:
    """Who is told of an event is asked of what the row rules read, whatever else a row has."""
    text = path.read_text(encoding="utf-8")
    more, count = re.subn(r"^( *)fields:\n", r"\g<0>\1  a_field_more: {type: string}\n", text, flags=re.MULTILINE)
    before, after = (plan_of(each, path.name, "postgresql") for each in (text, more))
    outcome = Outcome((), shape(before.schema))
    over = running(outcome, changes(outcome.stored, after.schema), before, after, BEFORE.wider)
    assert count and not over.refused


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_goes_over_running_nodes_or_it_is_said_why_not(name: str) -> None:
    wanted, over = CHANGES[name]["running"], found(name)
    if wanted is True:
        assert not over.refused
    else:
        assert any(wanted in each for each in over.refused), over.refused
