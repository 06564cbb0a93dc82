"""Who calls, and what there is to call about: people and rows of a contract, made in memory as `dev` makes them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final, TypeVar

from ninefold.development.callers import Known, callers
from ninefold.development.claims import kinds
from ninefold.development.identity import Identity
from ninefold.development.samples import sample, varied, whole
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.rehearsal import Rehearsal
from ninefold.expressions.evaluate import EvaluationError
from ninefold.plan.authentication import Password, Scheme
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.constraints import NothingFound, Refusal
from ninefold.runtime.operator.rows import Adding, Caller
from ninefold.runtime.store.memory import Memory
from ninefold.runtime.store.protocol import NotBegun, Session, Stored, Unavailable
from ninefold.values import Row

T = TypeVar("T")

TURNS: Final = 2
"""People of each kind: one whose row it is, and a stranger."""

EACH: Final = 3
"""Rows of each resource that the operator adds."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who calls, with what carries the credential. `who` is told to readers."""

    who: str
    scheme: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


NOBODY: Final = Person("anyone")


class _AtOnce:
    """A database in memory, for who waits for one. `turn`: what is made of its key is another one each turn."""

    def __init__(self, memory: Memory, turn: int) -> None:
        self._memory, self._turn = memory, turn

    def key(self, name: str) -> bytes:
        return self._memory.key(f"{name} {self._turn}")

    async def transact(self, work: Callable[[Session], T]) -> T:
        return self._memory.transact(work)


def people(
    plan: ServicePlan, new: ServicePlan, rehearsal: Rehearsal, given: Mapping[str, str], identity: Identity
) -> list[Person]:
    """Nobody in particular, and some of each scheme whose credentials can be had, also of kinds that only the new
    contract tells apart."""
    schemes = {each.scheme: each for each in plan.schemes}
    found: dict[str, Person] = {}
    for turn in range(TURNS):
        for known in asyncio.run(callers(plan, _AtOnce(rehearsal.database, turn), given, identity, rehearsal.sources)):
            if isinstance(known, Known):
                headers, query = carried(schemes[known.scheme], known.credential)
                who = f"{known.scheme} {known.who.partition(', for ')[0]}"
                found.setdefault(known.credential, Person(who, known.scheme, headers, query))
    for token, person in with_tokens(plan, new, identity):
        found.setdefault(token, person)
    return [NOBODY, *found.values()]


def with_tokens(plan: ServicePlan, new: ServicePlan, identity: Identity) -> Iterator[tuple[str, Person]]:
    """Tokens that are made now, of each kind that a contract tells apart, and who carries them."""
    schemes = {each.scheme: each for each in plan.schemes}
    for each in new.schemes:
        for kind in kinds(new, each) if each.scheme in identity.audiences and each.scheme in schemes else ():
            token = identity.token(each.scheme, kind.claims)
            headers, query = carried(schemes[each.scheme], token)
            yield token, Person(f"{each.scheme} {kind.words}", each.scheme, headers, query)


def carried(scheme: Scheme, credential: str) -> tuple[dict[str, str], dict[str, str]]:
    """The headers, with names in lower case, and the query parameters that carry a credential."""
    if isinstance(scheme.verified, Password):
        return {"authorization": f"Basic {base64.b64encode(credential.encode()).decode()}"}, {}
    match scheme.where:
        case "authorization":
            return {"authorization": f"{scheme.auth_scheme} {credential}"}, {}
        case "header":
            return {scheme.name.lower(): credential}, {}
        case "cookie":
            return {"cookie": f"{scheme.name}={credential}"}, {}
        case "query":
            return {}, {scheme.name: credential}
        case "certificate":
            return {}, {}


def furnish(plan: ServicePlan, rehearsal: Rehearsal, given: Mapping[str, str]) -> None:
    """Some rows of each resource to which the operator can add, each after those that it refers to."""
    left = [each for each in plan.operator_operations if each.adding is not None]
    for _ in range(len(left)):
        for each in tuple(left):
            assert each.adding is not None
            adding, schema = Adding(each, each.adding), each.adding.body.schema
            references = {one.field: one.type.resource for one in each.adding.body.fields if isinstance(one.type, Row)}
            if all(_add(adding, schema, references, rehearsal, given, number) for number in range(EACH)):
                left.remove(each)


def _add(
    adding: Adding, schema: Mapping[str, Any], references: Mapping[str, str], rehearsal: Rehearsal,
    given: Mapping[str, str], number: int,
) -> bool:  # fmt: skip
    tables = rehearsal.database.tables()
    document: dict[str, Any] = {}
    for name, own in schema.get("properties", {}).items():
        alone = whole(own, schema)
        if name in references:
            there = tables.get(references[name], [])
            key = _key(rehearsal.plan, references[name])
            value: Any = there[number % len(there)].get(key) if there and key is not None else None
        else:
            value = sample(alone)
            value = varied(value, alone, number) if number and isinstance(value, str) else value
        if value is not None:
            document[name] = value
    values = adding.read(document)
    if isinstance(values, Failure):
        return False
    try:
        call = adding.prepared(values, Caller(given, rehearsal.sources, rehearsal.database.key("cursors")))
        rehearsal.database.transact(lambda session: adding.stored(call, session))
    except (Refusal, NothingFound, EvaluationError, NotBegun, Unavailable):
        return False
    return True


def _key(plan: ServicePlan, resource: str) -> str | None:
    return next((each.key[0] for each in plan.schema.tables if each.name == resource and len(each.key) == 1), None)


def rows_of(
    tables: Mapping[str, list[dict[str, Stored]]], table: str, state: str | None, by: tuple[str, ...], most: int
) -> list[dict[str, Stored]]:
    """Rows of a table, the newest first: one in each state, then one of each kind by some columns, then others."""
    found: list[dict[str, Stored]] = []
    there = tables.get(table, [])
    every = tuple(there[0]) if there else ()
    for kind in ((state,) if state is not None else (), by if state is None else (state, *by), every):
        seen = set[tuple[Stored, ...]]()
        for row in reversed(there):
            values = tuple(row.get(name) for name in kind)
            if values not in seen:
                seen.add(values)
                found.append(row)
    return [row for number, row in enumerate(found) if row not in found[:number]][:most]
