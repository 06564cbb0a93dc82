"""How a database in PostgreSQL is opened: made, taken as it is, or refused. What was made by another program, or for
another contract, is not changed."""

from __future__ import annotations

import asyncio
import secrets
from asyncio import AbstractEventLoop
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import time
from typing import Any, Final

import msgspec
from asyncpg import exceptions

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Statement, statements
from ninefold.runtime.store import record
from ninefold.runtime.store.changing import NotUpgraded, adapt, differs
from ninefold.runtime.store.postgresql import PostgreSQL
from ninefold.runtime.store.postgresql_between import GO_OVER, LEAVE, NotServed, between, go_over, note_anew, on_its_way
from ninefold.runtime.store.postgresql_leases import Lease
from ninefold.runtime.store.postgresql_link import FAILED, Link, Transaction
from ninefold.runtime.store.postgresql_marks import OLD_MARKS
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.postgresql_replica import Replica
from ninefold.runtime.store.postgresql_servers import Servers, why
from ninefold.runtime.store.postgresql_serving import (
    ASK_AGAIN,
    FORGET,
    LOST,
    OPTIONS,
    SERVES,
    Alike,
    HeldElsewhere,
    beside,
    number_of,
    served,
)
from ninefold.runtime.store.postgresql_settings import unfit
from ninefold.runtime.store.postgresql_steps import Changing
from ninefold.runtime.store.postgresql_tables import CREATE_PROCESSES, OWN_FORM, create_schema, short, too_long
from ninefold.runtime.store.postgresql_writer import Writer
from ninefold.runtime.store.protocol import Begin, Judge, NotBegun, Opened, Refused
from ninefold.sql.fragment import identifier
from ninefold.sql.nodes import CREATE_WROTE
from ninefold.sql.postgresql import numbered
from ninefold.upgrade.running import Between
from ninefold.upgrade.shape import FORM, decode_shape, encode_shape
from ninefold.upgrade.words import hidden_before
from ninefold.upgrade.words import told as words_of_change
from ninefold.values import LONGEST_SUM

OLDEST: Final = 15
"""The oldest PostgreSQL whose SQL this is."""

CLOCKS: Final = 2.0
"""Seconds by which the clock of this machine and PostgreSQL's may differ: what is due at one node is due at all."""

_COMMANDS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")

NOTES: Final = record.TABLE
CREATE_NOTES: Final = f"CREATE TABLE {NOTES} (name text PRIMARY KEY, value bytea NOT NULL)"

_NODE: Final = 0
"""What is held in the place of what is served by whoever has a database alone: nobody serves then, whatever contract,
and others of its kind are kept out by `_ALONE`."""

_ALONE: Final = "SELECT pg_try_advisory_lock(hashtextextended('ninefold moves ' || current_schema(), 0))"

MOVING: Final = "moving"
"""Noted is the secret of the database that is being moved into this one."""


@dataclass(frozen=True, slots=True)
class _Found:
    key: bytes
    created: bool
    told: tuple[str, ...]
    began: tuple[str, ...]
    hidden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What a database knows of itself: its secret, the shape that it has, and whether it is between two contracts; the
    shape is then that of the one before."""

    key: bytes
    shape: Schema
    between: Between | None = None


def open_postgresql(
    url: str,
    plan: ServicePlan,
    begin: Begin | None = None,
    judge: Judge | None = None,
    replica: str | None = None,
    counts_elsewhere: bool = False,
    pooled: bool = False,
    waits: bool = True,
) -> Opened | Refused:
    """Open the database of a plan that is made for PostgreSQL: make it, take it as it is, add what can be added, or
    refuse. `url`: `postgresql://USER:PASSWORD@HOST:PORT/NAME`. `judge`: as for SQLite. `replica`: the URL of a standby
    that is read from. `pooled`: a pooler stands before PostgreSQL, and no session is ours. `waits`: for a process of
    another contract that was lost and may come back."""
    servers = Servers(url, pooled=pooled)
    name = servers.name
    if lacking := tuple(too_long(plan.schema)):
        return Refused(
            "the contract cannot be served from PostgreSQL yet",
            lacking,
            ("serve it from SQLite: `--database FILE`",),
        )
    serves = number_of(plan, Alike(replica is not None, counts_elsewhere, pooled))
    lease = Lease(servers, serves) if pooled else None
    writer = Writer(servers, serves, plan.schema.events and not pooled, replica is not None, lease)
    try:
        found = writer.begin(lambda _, loop: _opened(writer, loop, plan, serves, (begin, judge), name), waits)
    except NotServed as error:
        return error.refused
    except NotBegun as error:
        return Refused(str(error))
    except HeldElsewhere as error:
        if error.lost:
            return Refused(f"a process that served the database {name} {LOST}", help=(ASK_AGAIN,), held=True)
        return Refused(
            f"the database {name} is served by another process, of another contract",
            (f"of one contract too, unless all processes have the same of {OPTIONS}",),
            (
                "where that one is the newer one, serve it here as well",
                "stop that one, or name another database with --database",
            ),
            held=True,
            then=(GO_OVER,),
        )
    except FAILED as error:
        return Refused(f"the database {name} cannot be used: {why(error)}")
    follower = None if replica is None else Replica(replica, servers)
    if lease is not None:
        lease.begin()
    database = PostgreSQL(servers, found.key, writer, follower, lease)
    return Opened(database, name, found.created, found.told, found.began, found.hidden)


def _opened(
    writer: Writer,
    loop: AbstractEventLoop,
    plan: ServicePlan,
    serves: int,
    work: tuple[Begin | None, Judge | None],
    name: str,
) -> _Found:
    """On the writer's thread. Whoever else begins at the same time, or writes, waits."""
    begin, judge = work
    link = writer.begun()
    ask = asking(link, loop)
    # What may be served may have changed until it was this one's turn.
    if (others := loop.run_until_complete(beside(link, serves))) is not None:
        raise HeldElsewhere(others)
    examine(ask, name, link.pooled)
    session = Transaction(link, loop, LONGEST_SUM, guarded=True)
    found = known(ask, name)
    told: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    if found is None:
        key = secrets.token_bytes(32)
        for statement in create_schema(plan.schema):
            ask(statement)
        ask(CREATE_NOTES)
        note(ask, {"key": key, **notes_of(plan)})
        if judge is not None:
            judge(session, ())
    elif found.between is not None:
        key = found.key
        go_over(ask, found.between, serves, name)
        if serves == found.between.new:
            writer.hold_back((*found.between.held, *map(short, found.between.held)))
    else:
        key = found.key
        ask(OLD_MARKS)
        try:
            adapted = adapt(found.shape, plan.schema, Changing(session, ask), judge)
        except NotUpgraded as error:
            raise NotServed(differs(name, error.details)) from None
        told = tuple(map(words_of_change, adapted.told))
        hidden = hidden_before(found.shape, adapted)
    if found is None or found.between is None:
        note_anew(ask, {SERVES: str(serves).encode()})
    if writer.notes:
        ask(CREATE_WROTE)
    prepared(link, loop, plan)
    began: tuple[str, ...] = ()
    if begin is not None:
        began = begin(session)
    count_on(ask, plan.schema)
    ask(CREATE_PROCESSES)  # one that was made before has none
    ask(FORGET)
    writer.note(ask)
    ask("COMMIT")
    return _Found(key, found is None, told, began, hidden)


def asking(link: Link, loop: AbstractEventLoop) -> Ask:
    """What asks on a loop that runs while it does."""

    def ask(text: str, *binds: Any) -> list[Any]:
        return list(loop.run_until_complete(link.fetch(text, *binds)))

    return ask


@contextmanager
def alone(url: str) -> Iterator[tuple[Link, AbstractEventLoop, str]]:
    """While nobody serves a database, moves it or upgrades it. `str`: its name. Raises NotServed."""
    with opened_link(url) as (link, loop, name):
        if (found := between(asking(link, loop))) is not None:
            raise NotServed(Refused(on_its_way(found, name), then=LEAVE))
        match loop.run_until_complete(served(link, _NODE)):
            case "there":
                is_served = f"the database {name} is served by a process"
                raise NotServed(Refused(is_served, help=("stop it first",), then=(GO_OVER,)))
            case "away":
                raise NotServed(Refused(f"a process that served the database {name} {LOST}", help=(ASK_AGAIN,)))
        keep_others_out(link, loop, name)
        yield link, loop, name


@contextmanager
def opened_link(url: str) -> Iterator[tuple[Link, AbstractEventLoop, str]]:
    """A connection to a database, a loop, and its name. Raises NotServed."""
    servers = Servers(url)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        try:
            link = loop.run_until_complete(servers.open())
            try:
                yield link, loop, servers.name
            finally:
                loop.run_until_complete(link.close())
        except FAILED as error:
            why_not = f"the database {servers.name} cannot be used: {why(error)}"
            raise NotServed(Refused(why_not)) from error


def keep_others_out(link: Link, loop: AbstractEventLoop, name: str) -> None:
    """Nobody else moves or upgrades the database as long as the connection lasts. Raises NotServed."""
    if not loop.run_until_complete(link.value(_ALONE)):
        raise NotServed(Refused(f"another process moves or upgrades the database {name}"))


def examine(ask: Ask, name: str, pooled: bool = False) -> None:
    """Whether a PostgreSQL can be served from at all. Raises NotServed."""
    version, encoding = int(ask("SHOW server_version_num")[0][0]), ask("SHOW server_encoding")[0][0]
    if version < OLDEST * 10_000:
        raise _refused(name, f"it is PostgreSQL {version // 10_000}, and {OLDEST} is the oldest that will do")
    if encoding != "UTF8":
        raise _refused(name, f"its encoding is {encoding}, and not UTF8")
    if (told := unfit(ask, pooled)) is not None:
        setting, found, own = told
        raise _refused(name, f"its setting {setting} is {found}", f"set it to {own}, for this user or database")
    before = time()
    said = float(ask("SELECT extract(epoch FROM clock_timestamp())::float8")[0][0])
    if not before - CLOCKS <= said <= time() + CLOCKS:
        raise _refused(name, f"its clock and this machine's differ by {said - before:+.0f} seconds", "set them right")


def _refused(name: str, why: str, *help: str) -> NotServed:
    return NotServed(Refused(f"the database {name} cannot be used: {why}", help=help))


def notes_of(plan: ServicePlan) -> dict[str, bytes]:
    """What a database is made for."""
    return {"form": f"{FORM}.{OWN_FORM}".encode(), "shape": encode_shape(plan.schema)}


def note(ask: Ask, values: Mapping[str, bytes]) -> None:
    for what, value in values.items():
        ask(f"INSERT INTO {NOTES} VALUES ($1, $2)", what, value)


def noted(ask: Ask) -> dict[str, bytes]:
    return {row[0]: bytes(row[1]) for row in ask(f"SELECT name, value FROM {NOTES}")}


def known(ask: Ask, name: str) -> Known | None:
    """None: nothing is in it. Raises NotServed."""
    [(ours,)] = ask("SELECT to_regclass($1) IS NOT NULL", f"{NOTES}")
    if not ours:
        [(others,)] = ask(
            "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN"
            " ('r', 'p', 'v', 'm', 'f')"
        )
        if others:
            raise _refused(name, "it was made by another program", "name another database with --database")
        return None
    found = noted(ask)
    if MOVING in found:
        raise _refused(name, "a move into it has not come to its end", "`ninefold move` goes on with it")
    if found.get("form") != f"{FORM}.{OWN_FORM}".encode():
        raise _refused(name, "it was made by another ninefold")
    try:
        return Known(found["key"], decode_shape(found["shape"]), between(ask))
    except (KeyError, msgspec.DecodeError):
        raise _refused(name, "the shape that is stored in it cannot be read") from None


def prepared(link: Link, loop: AbstractEventLoop, plan: ServicePlan) -> None:
    """Have PostgreSQL read every statement of the plan. What it does not take is not served, and said."""
    failing: list[str] = []
    for text in dict.fromkeys(text for each in statements(plan) for text in _texts(each)):
        if not text.startswith(_COMMANDS):
            continue  # values alone, which are bound and never asked of a database
        try:
            loop.run_until_complete(link.execute("SAVEPOINT reading"))
            loop.run_until_complete(link.takes(numbered(text)))
        except exceptions.PostgresError as error:
            failing.append(f"{str(error).splitlines()[0]}: {text[:120]}")
            loop.run_until_complete(link.execute("ROLLBACK TO reading"))
    if failing:
        raise NotServed(
            Refused(
                "the contract cannot be served from PostgreSQL yet: it needs statements that are not made for it",
                tuple(failing),
                ("serve it from SQLite: `--database FILE`",),
            )
        )


def _texts(statement: Statement) -> Iterator[str]:
    """A statement with no switch on, and with each alone, or with what stands beside it: of some, two are never on at
    once."""
    switches: dict[str | None, set[str | None]] = {None: set()}
    for piece in statement.pieces:
        for name in filter(None, (piece.when, piece.unless)):
            switches.setdefault(name, {name}).update(piece.beside)
    for on in switches.values():
        yield "".join(
            piece.text
            for piece in statement.pieces
            if (piece.when is None or piece.when in on) and (piece.unless is None or piece.unless not in on)
        )


def count_on(ask: Ask, schema: Schema) -> None:
    """What numbers rows goes on behind the greatest number that a row was given."""
    for table in schema.tables:
        for column in table.columns:
            if column.serial:
                name, field = identifier(table.name), identifier(column.name)
                ask(
                    f"INSERT INTO \"$number\" AS known SELECT '{table.name}', max({field}) FROM {name}"
                    " HAVING count(*) > 0"
                    ' ON CONFLICT ("table") DO UPDATE SET last = greatest(known.last, excluded.last)'
                )
