"""A database in PostgreSQL that goes over to another contract while nodes serve it, as every stage of that sees it: a
connection beside those who serve, what is served, and what is to be done (`ninefold.upgrade.running`).

What locks a table waits two seconds for it and then tries again, so that nobody waits longer for what waits.
"""

from __future__ import annotations

import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeVar

from asyncpg import exceptions
from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import postgresql_tables as tables
from ninefold.runtime.store import record
from ninefold.runtime.store.changing import Before, Decide, NotUpgraded
from ninefold.runtime.store.postgresql_between import LEAVE, NotServed, on_its_way
from ninefold.runtime.store.postgresql_link import YIELDED, Link, Transaction
from ninefold.runtime.store.postgresql_marks import WRITE
from ninefold.runtime.store.postgresql_opening import (
    Known,
    asking,
    examine,
    keep_others_out,
    known,
    opened_link,
)
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.postgresql_serving import (
    ASK_AGAIN,
    EVERY,
    LOST,
    may_come,
    nobody_serves,
    nodes_of,
    number_of,
    serving,
)
from ninefold.runtime.store.protocol import Command, Unavailable
from ninefold.sql.fragment import identifier, literal
from ninefold.upgrade.changes import Changes, changes
from ninefold.upgrade.running import Between, Running, running
from ninefold.values import LONGEST_SUM

T = TypeVar("T")

LOCK_SECONDS: Final = 2
"""How long a change waits for what others hold, and others for it."""

ATTEMPTS: Final = 30
PAUSE_SECONDS: Final = 1.0

BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

_NOT_VALID: Final = (
    "SELECT conrelid::regclass::text, conname FROM pg_constraint"
    " WHERE NOT convalidated AND connamespace = current_schema()::regnamespace"
)


@dataclass(frozen=True, slots=True)
class Side:
    """A connection beside those who serve."""

    link: Link
    loop: AbstractEventLoop
    name: str
    found: Known

    @property
    def ask(self) -> Ask:
        return asking(self.link, self.loop)

    def session(self) -> Transaction:
        return Transaction(self.link, self.loop, LONGEST_SUM, guarded=True)

    def serving(self) -> list[int]:
        return self.loop.run_until_complete(serving(self.link))

    def nodes_of(self, number: int) -> int:
        return self.loop.run_until_complete(nodes_of(self.link, number))

    def may_come(self) -> set[int]:
        return self.loop.run_until_complete(may_come(self.link))

    def nobody_serves(self, number: int) -> bool:
        return self.loop.run_until_complete(nobody_serves(self.link, number))


@contextmanager
def beside(url: str) -> Iterator[Side]:
    """Raises NotUpgraded."""
    try:
        with opened_link(url) as (link, loop, name):
            keep_others_out(link, loop, name)
            ask = asking(link, loop)
            examine(ask, name)
            found = known(ask, name)
            if found is None:
                raise NotUpgraded(f"the database {name} is empty", help=("`serve` makes its tables when it starts",))
            yield Side(link, loop, name, found)
    except NotServed as error:
        why = error.refused
        raise NotUpgraded(why.message, why.details, why.help, why.then) from None


def insisted(work: Callable[[], T]) -> T:
    """What waits too long for others, or yields to them, is done again."""
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE_SECONDS if attempt else 0)
        try:
            return work()
        except Exception as error:
            said = error.__cause__ if isinstance(error, Unavailable) else error
            if not isinstance(said, (exceptions.LockNotAvailableError, *YIELDED)):
                raise
    raise NotUpgraded("others hold what has to be changed", help=("ask for it again",))


def patiently(side: Side, work: Callable[[], T], looks: Callable[[], None] = lambda: None) -> T:
    """In a transaction in which nobody else writes, but while it `looks` before."""

    def transacted() -> T:
        side.ask(BEGIN)
        try:
            looks()
            side.ask(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            side.ask(WRITE)
            made = work()
            side.ask("COMMIT")
        except BaseException:
            if not side.link.is_lost:
                side.ask("ROLLBACK")
            raise
        return made

    return insisted(transacted)


def served_now(side: Side, before: Before) -> tuple[int, ServicePlan]:
    """What nodes serve, by its number, and its plan. Raises NotUpgraded."""
    numbers = set(side.serving())
    if not numbers and side.may_come():
        raise NotUpgraded(f"a process that served the database {side.name} {LOST}", help=(ASK_AGAIN,))
    if not numbers:
        at_once = Command("what is to be done is done at once then", "upgrade", ("--apply",))
        raise NotUpgraded(f"nobody serves the database {side.name}", then=(at_once,))
    [number, *others] = numbers
    if others:
        raise NotUpgraded(f"nodes of several contracts serve the database {side.name}")
    return number, plan_of(side, before, number)


def plan_of(side: Side, before: Before, number: int) -> ServicePlan:
    """The plan that is served by this number. Raises NotUpgraded."""
    side.ask(BEGIN)
    kept = record.served_with(side.session())
    side.ask("ROLLBACK")
    for accepts in (False, True):
        plan = before.plan(kept, accepts)
        for each in () if plan is None else _with_broker(side, plan):
            if number in map(partial(number_of, each), EVERY):
                return each
    raise NotUpgraded(
        "what is served is not what this ninefold makes of the contract that is kept in the database",
        help=("another ninefold serves it: stop that, and upgrade while nobody serves",),
    )


def _with_broker(side: Side, plan: ServicePlan) -> Iterator[ServicePlan]:
    """A plan, and where the log has been sent to a broker, the one that sends it."""
    yield plan
    if side.found.shape.broker is not None:
        yield _sending(plan, side.found.shape.broker)


def _sending(plan: ServicePlan, broker: str | None) -> ServicePlan:
    return structs.replace(plan, schema=structs.replace(plan.schema, broker=broker))


def likewise(plan: ServicePlan, served: ServicePlan, number: int) -> tuple[ServicePlan, int]:
    """A plan that is served as another one is, by its number, and the number of it then."""
    plan = _sending(plan, served.schema.broker)
    return plan, next(number_of(plan, each) for each in EVERY if number_of(served, each) == number)


def is_to(noted: Between, new: int, name: str) -> None:
    if noted.new != new:
        raise NotUpgraded(on_its_way(noted, name), ("this is another contract",), then=LEAVE)


def found_over(
    side: Side, plan: ServicePlan, decide: Decide, served: ServicePlan, before: Before
) -> tuple[Changes, Running]:
    side.ask(BEGIN)
    kept = record.known(side.session())
    side.ask("ROLLBACK")
    outcome = decide(side.found.shape, kept)
    found = changes(outcome.stored, plan.schema, outcome.made)
    return found, running(outcome, found, served, plan, before.wider)


def validate(side: Side) -> None:
    """Have what is demanded be looked at in all rows, beside those who write."""
    for table, constraint in side.ask(_NOT_VALID):
        demand = f"ALTER TABLE {table} VALIDATE CONSTRAINT {identifier(constraint)}"
        insisted(lambda: side.ask(demand))  # noqa: B023


def demanded(side: Side, table: str, column: str) -> None:
    """Each row has a value, which all its rows are looked at for while others write; what keeps them from the table
    (`required`) need not look any more afterwards."""
    on, check = identifier(table), _check(column)
    there = f"SELECT 1 FROM pg_constraint WHERE conrelid = $1::text::regclass AND conname = {literal(check)}"
    if not side.ask(there, on):
        condition = f"CHECK ({identifier(column)} IS NOT NULL) NOT VALID"
        add = f"ALTER TABLE {on} ADD CONSTRAINT {identifier(check)} {condition}"
        patiently(side, lambda: side.ask(add))
    validate(side)


def required(ask: Ask, table: str, column: str) -> None:
    """What has been `demanded`."""
    ask(f"ALTER TABLE {identifier(table)} ALTER COLUMN {identifier(column)} SET NOT NULL")
    undemanded(ask, table, column)


def undemanded(ask: Ask, table: str, column: str) -> None:
    ask(f"ALTER TABLE {identifier(table)} DROP CONSTRAINT {identifier(_check(column))}")


def _check(column: str) -> str:
    return tables.short(f"$has {column}")


def added(noted: Between) -> Iterator[str]:
    yield from (f"resource `{each.name}`" for each in noted.tables)
    yield from (f"field `{table}.{column.name}`" for table, column in noted.columns)
