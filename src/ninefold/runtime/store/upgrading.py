"""What an upgrade does to a database, by its URL, whichever kind it is of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import undo, upgrade
from ninefold.runtime.store.changing import Before, Decide, NotUpgraded, Over, Rehearsed
from ninefold.runtime.store.opening import kind_of
from ninefold.runtime.store.protocol import Command, Judge


def has_backups(url: str) -> bool:
    """Whether there is a backup of each upgrade of a database, which can be put back."""
    return kind_of(url) == "sqlite"


def upgrade_database(
    url: str, plan: ServicePlan, decide: Decide, judge: Judge, apply: bool, backup: Path | None
) -> Rehearsed:
    """Upgrade a database to a plan that is made for it; `apply` False: only show what that would do. Raises
    NotUpgraded."""
    if kind_of(url) == "sqlite":
        if apply:
            return upgrade.upgrade(url, plan.schema, backup, decide, judge)
        return upgrade.preview(url, plan.schema, decide, judge)
    from ninefold.runtime.store import postgresql_upgrade

    return postgresql_upgrade.upgrade(url, plan, decide, judge, apply)


def go_over(url: str, plan: ServicePlan, decide: Decide, before: Before) -> Over:
    """Have nodes of another contract serve a database beside those that serve it. Raises NotUpgraded."""
    _of_nodes(url)
    from ninefold.runtime.store import postgresql_expand

    return postgresql_expand.expand(url, plan, decide, before)


def come_to_its_end(url: str, plan: ServicePlan, decide: Decide, judge: Judge, before: Before) -> Over:
    """Have the new contract alone be served. Raises NotUpgraded."""
    _of_nodes(url)
    from ninefold.runtime.store import postgresql_contract

    return postgresql_contract.contract(url, plan, decide, judge, before)


def take_back(url: str) -> Over:
    """Have the contract of before alone be served. Raises NotUpgraded."""
    from ninefold.runtime.store import postgresql_contract

    return postgresql_contract.undo(url)


def _of_nodes(url: str) -> None:
    if kind_of(url) == "sqlite":
        at_once = Command("what is to be done is done at once, while nobody serves it", "upgrade", ("--apply",))
        raise NotUpgraded("one process serves a SQLite file, and none beside it", then=(at_once,))


def drop_from(url: str, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """End what was set aside: each with the number of its values or rows. Raises NotUpgraded."""
    if kind_of(url) == "sqlite":
        return undo.drop(url, names)
    from ninefold.runtime.store import postgresql_upgrade

    return postgresql_upgrade.drop(url, names)
