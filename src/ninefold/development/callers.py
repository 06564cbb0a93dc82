"""One caller of each kind, so that every endpoint can be tried at once.

Where a scheme looks its credentials up in rows, `dev` adds one such row to its own database, as the operator would, and
knows the credential of that row. It is not kept anywhere: everything random in it is derived from the database's own
secret, so that the next start makes the same credential again, and finds that its row is there. Where somebody else
signs the tokens of a scheme, and that is `dev` itself, there is one for each kind of bearer that the contract tells
apart.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Protocol, TypeVar, assert_never

from ninefold.development.claims import kinds
from ninefold.development.identity import Identity
from ninefold.development.samples import admits, sample, varied
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError
from ninefold.expressions.operations import new_token
from ninefold.plan import environment
from ninefold.plan.authentication import Issued, LookedUp, Password, Scheme
from ninefold.plan.operator import Adding as AddingPlan
from ninefold.plan.operator import OperatorOperations
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import Issue, Scopes, Write
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.constraints import NothingFound, Refusal
from ninefold.runtime.operations.credentials import digest, is_password
from ninefold.runtime.operations.read import Call
from ninefold.runtime.operator.rows import Adding, Caller, look
from ninefold.runtime.request import schemes
from ninefold.runtime.request.schemes import Passwords, Tokens
from ninefold.runtime.request.service import constants
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Session, Unavailable
from ninefold.runtime.store.statements import Prepared
from ninefold.values import Row

_Known = TypeVar("_Known", Tokens, Passwords)

TURNS = 5
"""Other values that are tried where a row of the operator's own has the first ones."""

THE_MACHINES = Sources()
"""The time and the random bytes of the machine."""

DEEPEST = 5
"""Rows that are made for a row to refer to, and for those to refer to, at most."""


_T = TypeVar("_T")


class Rows(Protocol):
    """A database to which rows of callers are added. `key`: 32 bytes for one use, the same each time."""

    def key(self, name: str) -> bytes: ...

    def transact(self, work: Callable[[Session], _T]) -> Awaitable[_T]: ...


@dataclass(frozen=True, slots=True)
class Known:
    """A caller whose credential is known. `who` it is: a row, or what its token claims. `more`: the endpoints with a
    condition that it meets."""

    scheme: str
    credential: str
    who: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A kind of caller that cannot be had, and why."""

    scheme: str
    why: str


async def callers(
    plan: ServicePlan,
    database: Rows,
    given: Mapping[str, object],
    identity: Identity,
    sources: Sources = THE_MACHINES,
) -> tuple[Known | Unknown, ...]:
    """A caller of every scheme and kind, in the contract's order; the rows that are missing are added."""
    found: list[Known | Unknown] = []
    for scheme in plan.schemes:
        if scheme.signed is not None:
            found += _bearers(plan, scheme, identity)
            continue
        if scheme.where == "certificate":
            found.append(Unknown(scheme.scheme, "dev speaks plain HTTP, where no client has a certificate"))
            continue
        if not isinstance(scheme.verified, LookedUp | Issued | Password):
            found.append(
                Unknown(scheme.scheme, "such a caller cannot be had yet: this build accepts no credential of it")
            )
            continue
        try:
            found.append(await _caller(plan, scheme, scheme.verified, database, given, sources))
        except _NoRow as reason:
            found.append(Unknown(scheme.scheme, str(reason)))
        except Unavailable as error:
            found.append(Unknown(scheme.scheme, f"the database cannot be written: {error}"))
    return tuple(found)


def _bearers(plan: ServicePlan, scheme: Scheme, identity: Identity) -> Iterator[Known | Unknown]:
    name = scheme.scheme
    if name not in identity.audiences:
        yield Unknown(name, "its tokens are made by the issuer that the operator names")
        return
    for kind in kinds(plan, scheme):
        more = f", for {', '.join(kind.endpoints)}" if kind.endpoints else ""
        yield Known(name, identity.token(name, kind.claims), kind.words + more, kind.endpoints)


class _NoRow(Exception):
    """No row of a resource could be made; the message says why."""


async def _caller(
    plan: ServicePlan,
    scheme: Scheme,
    verified: LookedUp | Issued | Password,
    database: Rows,
    given: Mapping[str, object],
    sources: Sources,
) -> Known:
    caller = Caller(given, sources)
    maker = _Maker(plan, caller, database.key(f"dev {scheme.scheme}"))
    match verified:
        case LookedUp():
            make = maker.known
        case Issued():
            make = maker.issued
        case Password():
            make = maker.with_password
        case _:
            assert_never(verified)
    for turn in range(TURNS):
        try:
            return await database.transact(partial(make, scheme, verified.resource, turn))
        except (Refusal, NothingFound):
            continue
    name = verified.resource
    raise _NoRow(f"the contract refuses a row of {name} made of samples; `ninefold add` makes one of yours")


@dataclass(frozen=True, slots=True)
class _Maker:
    plan: ServicePlan
    caller: Caller
    key: bytes

    def known(self, scheme: Scheme, resource: str, turn: int, session: Session) -> Known:
        """The caller of one turn: found, or added. Raises Refusal, NothingFound and _NoRow."""
        operations, plan = self._operations(resource)
        ready, known_by = self._ready(scheme, Tokens)
        env = constants(self.caller.sources, self.caller.given)
        adding, own = Adding(operations, plan), self._own(turn)
        call = self._prepared(adding, plan, own, session, turn, 0)
        tokens = adding.issued(call).values()
        for attempt in (0, 1):
            for token in tokens:
                if rows := session.run(*known_by.find(known_by.proof(token), env)):
                    row = ready.caller(rows[0], env).identity or ""
                    return Known(scheme.scheme, token, f"{operations.resource} {row}")
            if attempt == 0:
                adding.stored(call, session)
        raise _NoRow(f"a row of {operations.resource} holds no credential that is made for it")

    def issued(self, scheme: Scheme, resource: str, turn: int, session: Session) -> Known:
        """The caller to whose row a credential was issued, which lasts as long as the row."""
        token = new_token(self._own(turn).sources.of_expressions())
        proof, env = Tokens.proof(token), constants(self.caller.sources, self.caller.given)
        ready, tokens = self._ready(scheme, Tokens)
        issue, scopes = _issue(self.plan, scheme.scheme)
        if issue is None:
            raise _NoRow("no endpoint issues a credential of it")
        if not session.run(*tokens.find(proof, env)):
            operations, plan = self._operations(resource)
            adding, own = (
                Adding(operations, plan),
                Caller(self.caller.given, _derived(self.caller.sources, self.key, turn)),
            )
            row = adding.stored(self._prepared(adding, plan, own, session, turn, 0), session)
            key = {name: row[name] for name in plan.create.key}
            env[environment.ISSUED], env[environment.ROW] = {"digest": digest(token), "expires": None}, key
            session.run(*Prepared(issue.store).bound(env))
            if scopes is not None and issue.store_scopes is not None:
                # For trying out: all that there are.
                env[environment.ISSUED] |= {"scopes": list(scopes.scopes)}
                session.run(*Prepared(issue.store_scopes).bound(env))
        [found, *_] = session.run(*tokens.find(proof, env))
        of_row, _ = tokens.granted(found)
        return Known(scheme.scheme, token, f"{resource} {ready.caller(of_row, env).identity or ''}")

    def with_password(self, scheme: Scheme, resource: str, turn: int, session: Session) -> Known:
        """The caller of a row with a password that is made for it; the credential is both, as `curl -u` takes them."""
        assert isinstance(scheme.verified, Password)
        env = constants(self.caller.sources, self.caller.given)
        ready, passwords = self._ready(scheme, Passwords)
        operations, plan = self._operations(resource)
        adding, own = Adding(operations, plan), self._own(turn)
        call = self._prepared(adding, plan, own, session, turn, 0)
        fields = (scheme.verified.user, scheme.verified.password)
        user, password = (str((call.body or {}).get(name, "")) for name in fields)
        for attempt in (0, 1):
            for row in session.run(*passwords.named(user, env)):
                if is_password(row[0], password):
                    who = ready.caller(row[1:], env).identity or ""
                    return Known(scheme.scheme, f"{user}:{password}", f"{resource} {who}")
            if attempt == 0:
                adding.stored(call, session)
        raise _NoRow(f"a row of {resource} cannot be found by its user-id")

    def _own(self, turn: int) -> Caller:
        """Whose random bytes are derived from the key."""
        return Caller(self.caller.given, _derived(self.caller.sources, self.key, turn))

    def _ready(self, scheme: Scheme, kind: type[_Known]) -> tuple[schemes.Scheme, _Known]:
        owner = None if scheme.of_row is None else scheme.of_row.resource
        table = next(table for table in self.plan.schema.tables if table.name == owner)
        ready = schemes.Scheme(scheme, table.key)
        assert isinstance(ready.known_by, kind)
        return ready, ready.known_by

    def _operations(self, resource: str) -> tuple[OperatorOperations, AddingPlan]:
        operations = next(each for each in self.plan.operator_operations if each.resource == resource)
        if operations.adding is None:
            raise _NoRow(f"nothing can be added to {resource}: {'; '.join(operations.blocked)}")
        return operations, operations.adding

    def _prepared(
        self, adding: Adding, plan: AddingPlan, caller: Caller, session: Session, turn: int, depth: int
    ) -> Call:
        """A row of samples, with the rows that it refers to."""
        document = sample(plan.body.schema)
        if not isinstance(document, dict):
            raise _NoRow(f"no sample of a {adding.resource} fits its schema; `ninefold add` makes one of yours")
        schemas = plan.body.schema.get("properties", {})
        passwords = {assign.field for assign in plan.create.assigns if assign.secret == "password"}
        for field in plan.body.fields:
            if field.field in document and isinstance(field.type, Row):
                if admits(schemas.get(field.field, {}), None):
                    document[field.field] = None  # who made the first row: nobody did
                    continue
                document[field.field] = self._some_row(field.type.resource, session, depth + 1)
            elif field.field in passwords and field.field in document:
                made = new_token(caller.sources.of_expressions())
                admitted = admits(schemas.get(field.field, {}), made)
                document[field.field] = made if admitted else document[field.field]
            elif turn and isinstance(document.get(field.field), str):
                document[field.field] = varied(document[field.field], schemas.get(field.field, {}), turn)
        values = adding.read(document)
        if isinstance(values, Failure):
            raise _NoRow(f"no sample of a {adding.resource} fits its schema; `ninefold add` makes one of yours")
        try:
            return adding.prepared(values, caller)
        except EvaluationError:
            raise _NoRow(f"a value that the contract gives a {adding.resource} cannot be made") from None

    def _some_row(self, resource: str, session: Session, depth: int) -> Any:
        """The identifier of the first row of a resource, which is added if there is none."""
        if depth > DEEPEST:
            raise _NoRow(f"a {resource} refers to too many rows that are not there")
        operations, plan = self._operations(resource)
        key = plan.create.key[0]
        if there := look(operations, session, self.caller, {}, "", 1).rows:
            return there[0][key]
        adding = Adding(operations, plan)
        return adding.stored(self._prepared(adding, plan, self.caller, session, 0, depth), session)[key]


def _issue(plan: ServicePlan, scheme: str) -> tuple[Issue | None, Scopes | None]:
    """How an endpoint issues a credential of a scheme, and which scopes it has; None: no endpoint does."""
    for route in plan.routes:
        for admission in route.admissions if isinstance(route, Served) else ():
            operation = admission.operation
            issue = operation.step(Issue) if isinstance(operation, Write) else None
            if isinstance(operation, Write) and issue is not None and issue.scheme == scheme:
                return issue, operation.step(Scopes)
    return None, None


def _derived(sources: Sources, key: bytes, turn: int) -> Sources:
    """Bytes that are the same each time, and that nobody can tell who has not the key: HMAC-SHA256 of a count."""
    return Sources(sources.clock, _stream(key, turn), sources.elapsed)


def _stream(key: bytes, turn: int) -> Callable[[int], bytes]:
    blocks = _blocks(key, turn)

    def take(size: int) -> bytes:
        taken = b""
        while len(taken) < size:
            taken += next(blocks)
        return taken[:size]

    return take


def _blocks(key: bytes, turn: int) -> Iterator[bytes]:
    for number in count():
        yield hmac.digest(key, f"{turn} {number}".encode(), "sha256")
