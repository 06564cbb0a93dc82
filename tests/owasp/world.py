"""A database full of other people's rows, and the people themselves, made from a contract.

Rows are made as the operator makes them, of samples, with references dealt out among all rows there are, so that
each person has rows of their own and there are rows of others; and in each state. Which rows somebody may see is told
by the tests' own evaluator of expressions (`tests/reference`), which shares no code with what is judged.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
from tests.postgresql import server
from tests.reference.expressions import Reading, at_hand
from tests.reference.rows import Row, Rows
from tests.server.identity import Provider

from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.cli import main
from ninefold.development.claims import kinds
from ninefold.development.samples import admits, of_pattern, sample
from ninefold.expressions.evaluate import EvaluationError
from ninefold.plan.authentication import Issued, LookedUp, Password, Scheme
from ninefold.plan.environment import ENTERED_COLUMN
from ninefold.plan.operator import OperatorOperations
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.constraints import NothingFound, Refusal
from ninefold.runtime.operator.rows import Adding, Caller, look, stated_rows
from ninefold.runtime.store.protocol import Session
from ninefold.runtime.store.sqlite import Opened, SQLite, open_sqlite
from ninefold.sql import credentials
from ninefold.sql.fragment import identifier, literal

ANYONE = "anyone"
EACH = 4
"""Rows of each resource."""
COMBINATIONS = 50
"""Of rows that references lead to, before a row is given up."""

PEOPLE = 2
"""People of each kind."""


@dataclass(frozen=True)
class Person:
    """Who calls. `values` are what conditions read as `caller`; `row` is the person's own, if there is one. `where`:
    the header, query parameter or cookie that carries the credential, as `headers` or `query` has it."""

    scheme: str
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    row: Row | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    credential: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.scheme if self.scheme == ANYONE else f"{self.scheme} {self.name}"


NOBODY = Person(ANYONE, "")


@dataclass
class World:
    """`secrets`: credentials and passwords, by what they are, which no response may show."""

    plan: ServicePlan
    checked: Checked
    path: Path
    given: Mapping[str, str]
    rows: Rows = field(default_factory=Rows)
    people: list[Person] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    unmade: dict[str, str] = field(default_factory=dict)
    url: str | None = None
    """Where the rows are in PostgreSQL; what is at `path` is then what they were."""
    stored: server.Asked | None = None

    def moved(self, contract: Path) -> World:
        """The same world in a database of PostgreSQL, until it is closed."""
        url = server.database()
        assert main(["move", str(contract), str(self.path), url]) == 0
        return replace(self, url=url, stored=server.Asked(url))

    def close(self) -> None:
        if self.stored is not None:
            self.stored.close()

    # ── Who sees what ─────────────────────────────────────────────────────────────────────────────────────────

    def reading(self, person: Person, now: str) -> Reading:
        names = {"caller": person.values, "now": now, "operator": self.given, "request": {}}
        return Reading(self.checked.resources, self.rows, names)

    def sees(self, person: Person, row: Row, now: str) -> bool:
        """Whether a person may see a row, by the row rules alone."""
        rules = self.checked.row_rules.get(row.resource.name, {})
        if person.scheme not in rules:
            return False
        rule = rules[person.scheme]
        return rule is None or self.reading(person, now).also(**{row.resource.name: at_hand(row)}).holds(rule)

    def of(self, resource: str) -> list[Row]:
        return self.rows.of.get(resource, [])

    def persons(self, scheme: str) -> list[Person]:
        return [NOBODY] if scheme == ANYONE else [each for each in self.people if each.scheme == scheme]

    def markers(self, row: Row) -> set[str]:
        """Texts that no other row has: where one of them is read, this row is shown."""
        own = set(_texts(row))
        for others in self.rows.of.values():
            for other in others:
                if other is not row:
                    own -= set(_texts(other))
                    own -= {str(value) for value in other.fields.values()}
        return own

    def without(self, person: Person, path: Path, now: str) -> tuple[World, set[tuple[str, str]]]:
        """The same world in another database, without the rows that a person does not see and nothing refers to; and
        which these are. Nothing is taken away where that would change what the person sees."""
        with closing(apsw.Connection(str(self.path))) as stored, closing(apsw.Connection(str(path))) as copy:
            with copy.backup("main", stored, "main") as backup:
                backup.step()
        away = {
            (row.resource.name, str(row.key))
            for rows in self.rows.of.values()
            for row in rows
            if not self.sees(person, row, now) and row is not person.row
        }
        while more := away & set(self.referred_to(away)):
            away -= more
        kept = {name: [row for row in rows if (name, str(row.key)) not in away] for name, rows in self.rows.of.items()}
        other = replace(self, path=path, rows=Rows(kept))
        if any(self.sees(person, row, now) != other.sees(person, row, now) for rows in kept.values() for row in rows):
            return replace(self, path=path), set()
        with closing(apsw.Connection(str(path))) as database:
            # What goes with a row (its credentials, its subscription) goes with it here as well.
            database.pragma("foreign_keys", True)
            with database:
                for row in [each for rows in reversed(self.rows.of.values()) for each in rows]:
                    if (row.resource.name, str(row.key)) in away:
                        where = " AND ".join(f"{identifier(each)} = ?" for each in row.resource.primary_key)
                        keys = [row.fields[each] for each in row.resource.primary_key]
                        database.execute(f"DELETE FROM {identifier(row.resource.name)} WHERE {where}", keys)
        return other, away

    def referred_to(self, away: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """What the rows that stay refer to."""
        for name, rows in self.rows.of.items():
            for row in rows:
                for each in row.resource.fields.values() if (name, str(row.key)) not in away else ():
                    if each.references is not None and row.fields.get(each.name) is not None:
                        yield each.references, str(row.fields[each.name])

    def snapshot(self) -> dict[str, list[Any]]:
        """Everything that is stored, but what processes note of themselves and what rates count."""
        if self.stored is not None:
            named = self.stored.run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            kept = [name for (name,) in named if name not in ("$ninefold", "$state", "$due")]
            of_each = "SELECT {}, array(SELECT t::text FROM {} AS t ORDER BY 1)"
            every = " UNION ALL ".join(of_each.format(literal(name), identifier(name)) for name in kept)
            return {name: list(rows) for name, rows in self.stored.run(every)}
        names = [name for (name,) in self.read("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in names if name not in ("$ninefold",) and not name.startswith("sqlite_")]
        return {name: sorted(self.read(f'SELECT * FROM "{name}"'), key=repr) for name in kept}

    def read(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows that are stored. Of a file they are read by the same SQLite: two of them in one process undo each
        other's locks."""
        if self.stored is not None:
            return [tuple(row) for row in self.stored.run(statement)]
        with closing(apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)) as database:
            return list(database.execute(statement))


def _texts(row: Row) -> Iterator[str]:
    for name, value in row.fields.items():
        if isinstance(value, str) and len(value) >= 6 and row.resource.fields[name].references is None:
            machine = row.resource.machine
            if machine is None or machine.field != name:
                yield value


# ── How it comes about ────────────────────────────────────────────────────────────────────────────────────────


def made(plan: ServicePlan, checked: Checked, path: Path, given: Mapping[str, str], provider: Provider) -> World:
    """A world in the database at `path`, which is closed again."""
    world = World(plan, checked, path, given)
    caller = Caller(given)
    opened = open_sqlite(str(path), plan.schema, stated_rows(plan, caller))
    assert isinstance(opened, Opened), opened
    maker = _Maker(world, Caller(given, key=opened.database.key("cursors")))
    try:
        asyncio.run(maker.fill_all(opened.database))
    finally:
        opened.database.close()
    for scheme in plan.schemes:
        world.people += maker.people(scheme, provider)
    return world


def _in_order(checked: Checked) -> list[str]:
    """Resources after those that they refer to, as far as there is such an order."""
    order: list[str] = []

    def put(resource: Resource, above: tuple[str, ...]) -> None:
        for each in resource.fields.values():
            target = each.references
            if target is not None and target not in (*above, resource.name) and target in checked.resources:
                put(checked.resources[target], (*above, resource.name))
        if resource.name not in order:
            order.append(resource.name)

    for resource in checked.resources.values():
        put(resource, ())
    return order


@dataclass
class _Maker:
    world: World
    caller: Caller
    tokens: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)
    passwords: dict[tuple[str, int], str] = field(default_factory=dict)

    async def fill_all(self, database: SQLite) -> None:
        operations = {each.resource: each for each in self.world.plan.operator_operations}
        for name in _in_order(self.world.checked):
            if name in operations:
                await database.transact(partial(self.fill, operations[name]))

    def fill(self, operations: OperatorOperations, session: Session) -> None:
        world, resource = self.world, operations.resource
        checked = world.checked.resources[resource]
        if not checked.primary_key:
            pass  # its one row is there
        elif operations.adding is None:
            world.unmade[resource] = "; ".join(operations.blocked)
        else:
            adding = Adding(operations, operations.adding)
            for number in range(EACH):
                if why := self.add(adding, operations.adding.body.schema, checked, number, session):
                    world.unmade[resource] = why
                    break
        sort = operations.list.sorts[0].name
        shown = look(operations, session, self.caller, {}, sort, 1000).rows
        for values in shown:
            row = Row(checked, {name: values.get(name) for name in checked.fields})
            world.rows.of.setdefault(resource, []).append(row)
        self.spread(checked, session)

    def add(self, adding: Adding, schema: Mapping[str, Any], resource: Resource, number: int, session: Session) -> str:
        """Why the row of this number cannot be added; nothing where it was. What it says an invariant may refuse: then
        it says what it has to alone, and its references say something else."""
        usual = self.document(schema, resource, number)
        others = {name: self.world.of(to) for name in usual if (to := resource.fields[name].references) is not None}
        chosen = itertools.islice(itertools.product(*others.values()), COMBINATIONS)
        why = self.try_to_add(usual, adding, resource, number, session)
        least = {name: value for name, value in usual.items() if name in schema.get("required", ())}
        if why and least != usual:
            why = self.try_to_add(least, adding, resource, number, session)
        for rows in chosen if why and len(others) > 1 else ():
            document = usual | {name: row.key for name, row in zip(others, rows, strict=True)}
            if not self.try_to_add(document, adding, resource, number, session):
                return ""
        return why

    def try_to_add(
        self, document: dict[str, Any], adding: Adding, resource: Resource, number: int, session: Session
    ) -> str:
        values = adding.read(document)
        if isinstance(values, Failure):
            return f"no sample fits: {[(each.pointer, each.rule) for each in values.fields]}"
        session.run("SAVEPOINT added", ())
        try:
            call = adding.prepared(values, self.caller)
            shown = adding.stored(call, session)
        except (Refusal, NothingFound, EvaluationError) as error:
            session.run("ROLLBACK TO added", ())
            return f"refused: {error!r} {getattr(error, 'failures', '')}"
        key = "/".join(str(shown[each]) for each in resource.primary_key)
        for name, token in adding.issued(call).items():
            self.tokens.setdefault((resource.name, number), {})[name] = token
            self.world.secrets[f"{resource.name}.{name} of {key}"] = token
        for name, each in resource.fields.items():
            if each.secret == "password" and isinstance(document.get(name), str):
                self.passwords[resource.name, number] = document[name]
        return ""

    def document(self, schema: Mapping[str, Any], resource: Resource, number: int) -> dict[str, Any]:
        """What the operator gives for the row of this number: every field that there is a sample of."""
        properties = schema.get("properties", {})
        found: dict[str, Any] = {}
        for name, own in properties.items():
            each = resource.fields.get(name)
            if each is not None and each.references is not None:
                targets = self.world.of(each.references)
                if targets:
                    found[name] = targets[number % len(targets)].key
            else:
                value = marked(own, schema, resource.name, name, number)
                if value is not None:
                    found[name] = value
        return found

    def spread(self, resource: Resource, session: Session) -> None:
        """Rows in each state: the first one stays in that in which it was made."""
        if resource.machine is None or not resource.primary_key:
            return
        states: list[str | None] = [each for each in resource.machine.states if each not in resource.machine.gone]
        for index, row in enumerate(self.world.of(resource.name)):
            state = states[(states.index(resource.machine.initial) + index) % len(states)]
            row.fields[resource.machine.field] = state
            where = " AND ".join(f"{identifier(each)} = ?" for each in resource.primary_key)
            keys = [row.fields[each] for each in resource.primary_key]
            column = identifier(resource.machine.field)
            # Nothing falls due meanwhile: a row that moves by itself looks as if a request had moved it.
            text = (
                f"UPDATE {identifier(resource.name)} SET {column} = ?, {identifier(ENTERED_COLUMN)} = ? WHERE {where}"
            )
            session.run(text, [state, "9999-01-01T00:00:00.000000Z", *keys])

    # ── People ────────────────────────────────────────────────────────────────────────────────────────────────

    def people(self, scheme: Scheme, provider: Provider) -> Iterator[Person]:
        match scheme.verified:
            case LookedUp(resource=resource) | Issued(resource=resource) | Password(resource=resource):
                # Passwords take their time: one person has to do.
                most = 1 if isinstance(scheme.verified, Password) else PEOPLE
                for number, row in enumerate(self.world.of(resource)[:most]):
                    credential = self.credential(scheme, row, number)
                    if credential is not None:
                        values = {resource: at_hand(row)}
                        yield _person(scheme, str(row.key), credential, values, row)
            case None:
                return
            case _ if scheme.signed is not None:
                claimed: list[Mapping[str, Any]] = [{}, *(kind.claims for kind in kinds(self.world.plan, scheme))]
                for number, claims in enumerate(each for i, each in enumerate(claimed) if each not in claimed[:i]):
                    token = provider.token(sub=f"person-{number}", aud=scheme.signed.audience, **claims)
                    every = {**provider.claims(sub=f"person-{number}", aud=scheme.signed.audience), **claims}
                    values = _added(scheme, every)
                    yield _person(scheme, f"{number} {claims}", token, values, None, every)
            case _:
                return

    def credential(self, scheme: Scheme, row: Row, number: int) -> str | None:
        verified = scheme.verified
        match verified:
            case LookedUp():
                field_name = next(
                    each.verified.field  # type: ignore[union-attr]
                    for each in self.world.checked.schemes
                    if each.name == scheme.scheme
                )
                return self.tokens.get((row.resource.name, number), {}).get(field_name)
            case Issued():
                token = sha256(f"{scheme.scheme} {row.key}".encode()).hexdigest()
                self.issue(scheme.scheme, row, token)
                self.world.secrets[f"a credential of {scheme.scheme} {row.key}"] = token
                return token
            case Password():
                stated = next(each.verified for each in self.world.checked.schemes if each.name == scheme.scheme)
                user = row.fields[stated.user]  # type: ignore[union-attr]
                pair = f"{user}:{self.passwords.get((row.resource.name, number), '')}"
                return base64.b64encode(pair.encode()).decode()
            case _:
                return None

    def issue(self, scheme: str, row: Row, token: str) -> None:
        """A credential that lasts, as the service would have kept it."""
        names = [credentials.DIGEST, credentials.SCHEME, *(identifier(each) for each in row.resource.primary_key)]
        values = [sha256(token.encode()).digest(), scheme, *(row.fields[each] for each in row.resource.primary_key)]
        marks = ", ".join("?" for _ in names)
        with closing(apsw.Connection(str(self.world.path))) as database, database:
            table = credentials.table_of(row.resource.name)
            database.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)


def _person(
    scheme: Scheme,
    name: str,
    credential: str,
    values: Mapping[str, Any],
    row: Row | None,
    claims: Mapping[str, Any] | None = None,
) -> Person:
    headers, query = carried(scheme, credential)
    return Person(scheme.scheme, name, values, row, headers, query, credential, claims or {})


def carried(scheme: Scheme, credential: str) -> tuple[dict[str, str], dict[str, str]]:
    """The headers and the query parameters that carry a credential."""
    match scheme.where:
        case "authorization":
            return {"Authorization": f"{scheme.name} {credential}"}, {}
        case "header":
            return {scheme.name: credential}, {}
        case "cookie":
            return {"Cookie": f"{scheme.name}={credential}"}, {}
        case "query":
            return {}, {scheme.name: credential}
        case _:
            return {}, {}


def _added(scheme: Scheme, claims: Mapping[str, Any]) -> dict[str, Any]:
    """What a scheme adds to the caller, where it is plainly a claim."""
    found = {}
    for name, value in scheme.adds:
        claim = getattr(value, "name", "")
        if claim in claims:
            found[name] = claims[claim]
    if scheme.signed is not None and scheme.signed.scopes:
        found["scopes"] = [each for each in str(claims.get("scope", "")).split() if each in scheme.signed.scopes]
    return found


def marked(schema: Any, root: Any, resource: str, name: str, number: int) -> Any:
    """A sample of a schema, another one for each number where the schema lets it."""
    if not isinstance(schema, dict):
        return sample(schema)
    whole = {**schema, "$defs": root.get("$defs", {})}
    if isinstance(schema.get("enum"), list):
        return schema["enum"][number % len(schema["enum"])]
    usual = sample(whole)
    if isinstance(usual, bool):
        return usual
    if isinstance(usual, int) and admits(whole, usual + number):
        return usual + number
    if isinstance(schema.get("pattern"), str):
        usual = next((text for text in of_pattern(schema["pattern"], number) if admits(whole, text)), usual)
    elif isinstance(usual, str):
        at = usual.find("@") if "@" in usual else len(usual)
        word = f"{resource}-{name}-{number}".replace("_", "-")
        for other in (
            word,
            f"{word}@example.com",
            f"https://{word}.example/",
            f"2026-01-0{number + 1}",
            f"2026-01-0{number + 1}T00:00:00Z",
            f"{usual[:at]}{number}{usual[at:]}",
            f"{usual[:-1]}{number}",
            f"{chr(97 + number) * len(usual)}",
        ):
            if admits(whole, other):
                return other
    return usual
