"""Credentials that the service itself makes, and passwords that it is told: what signing in and signing up do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias

from ninefold.database.protocol import Row, Session, Stored
from ninefold.expressions.operations import new_token
from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.server.flow import Compute, Next, Select, Wait
from ninefold.server.passwords import is_password
from ninefold.server.sources import Sources
from ninefold.server.statements import Prepared
from ninefold.values import sqlite_reader

Env: TypeAlias = dict[str, Any]


def digest(credential: str) -> bytes:
    """What is stored of a random credential (SHA-256): it is found by that, and cannot be read from it."""
    return sha256(credential.encode("utf-8", "surrogateescape")).digest()


class Issue:
    """Makes a credential, which is told once and then known by its digest alone."""

    def __init__(self, issue: plan.Issue) -> None:
        self._scheme = issue.scheme
        self._store = Prepared(issue.store)
        self._clean = Prepared(issue.clean)
        self._lasts = issue.lasts_microseconds
        self._granted = None if issue.granted is None else Granted(issue.granted)

    def make(self, env: Env, sources: Sources) -> None:
        """Make it: from here on it is `caller.credential`."""
        credential = new_token(sources.of_expressions())
        expires = None if self._lasts is None else _later(env["now"], self._lasts)
        env[environment.ISSUED] = {"digest": digest(credential), "expires": expires}
        env["issued"] = {self._scheme: credential, **env["issued"]}
        seconds = None if self._lasts is None else self._lasts // 1_000_000
        env["granted"] = {"expires_in": seconds, "scope": None, "scopes": []}
        env["caller"] = {**env["caller"], "credential": credential}

    def grant(self, session: Session, env: Env) -> None:
        """Find out which scopes it has: from here on they are `granted`."""
        if self._granted is not None:
            self._granted.find(session, env)

    def keep(self, session: Session, env: Env) -> None:
        """Keep its digest, in the transaction of what it was made for."""
        session.run(*self._store.bound(env))
        if self._granted is not None:
            self._granted.keep(session, env)
        session.run(*self._clean.bound(env))


class Granted:
    """The scopes of a credential: those of its row, or of these what is asked for."""

    def __init__(self, granted: plan.Granted) -> None:
        self._scopes = granted.scopes
        self._find = Prepared(granted.find)
        self._read = sqlite_reader(granted.find.columns[0].type)
        self._store = Prepared(granted.store)

    def find(self, session: Session, env: Env) -> None:
        [(stored,)] = session.run(*self._find.bound(env))
        value = stored if stored is None or self._read is None else self._read(stored)
        may, asked = set(value if isinstance(value, list) else ()), env.get(environment.ASKED, {}).get("scopes")
        scopes = [each for each in self._scopes if each in may and (asked is None or each in asked)]
        env[environment.ISSUED]["scopes"] = scopes
        env["granted"] |= {"scope": " ".join(scopes) or None, "scopes": scopes}

    def keep(self, session: Session, env: Env) -> None:
        session.run(*self._store.bound(env))


class Ending:
    """Ends what was issued to a row: because its password becomes another, or because that is asked for."""

    def __init__(self, ending: plan.Ending) -> None:
        self._fields = ending.fields
        self._statement = Prepared(ending.statement)

    def end(self, session: Session, env: Env, written: Collection[str]) -> None:
        if not self._fields or any(field in written for field in self._fields):
            session.run(*self._statement.bound(env))


class PasswordCheck:
    """Holds the password in a body to that of the row which path and body name."""

    def __init__(self, check: plan.PasswordCheck) -> None:
        self._field = check.field
        self._find = None if check.find is None else Prepared(check.find)

    def step(self, env: Env, then: Callable[[bool], Next]) -> Next:
        """Check it, and go on. Where there is no such row it takes as long, and the password is not right either. A
        random secret is found by its digest: the row says whether it is its own."""
        if self._find is None:
            secret = env[environment.BODY].get(self._field)
            env[environment.VERIFIED] = {"hash": digest(secret if isinstance(secret, str) else "")}
            return then(True)
        return Wait(Select(*self._find.bound(env)), partial(self._found, env, then))

    def _found(self, env: Env, then: Callable[[bool], Next], rows: list[Row]) -> Next:
        hash = rows[0][0] if rows else None
        password = env[environment.BODY].get(self._field)
        verified = Compute(partial(is_password, hash, password if isinstance(password, str) else ""))
        return Wait(verified, partial(_verified, env, then, hash))


def _verified(env: Env, then: Callable[[bool], Next], hash: Stored, is_right: bool) -> Next:
    env[environment.VERIFIED] = {"hash": hash} if is_right else {}
    return then(is_right)


def _later(now: str, microseconds: int) -> str:
    """A time after another, in the form of `ninefold.values`. One beyond the last year is at its end."""
    try:
        time = datetime.fromisoformat(now) + timedelta(microseconds=microseconds)
    except OverflowError:
        time = datetime.max
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
