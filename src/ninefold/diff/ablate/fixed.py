"""The fixed requests of a contract: told once to the whole contract, in order, and noted with the moment at which each
came, so that every contract with a fact less is asked the same at the same moments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from ninefold.development.identity import Identity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.diff.ablate.provenance import attributed, refused_for, shown
from ninefold.diff.rehearsal import BEGINNING, BETWEEN, Moment, Rehearsal, Seen, Told
from ninefold.diff.requests import Exchange, Known, Token, Unreadable, filled, learn, read_exchanges
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations.flow import Fetched, Unreachable

ISSUER = "http://127.0.0.1:1"
"""Where the issuer of tokens is: nothing listens there, it is asked in process."""


@dataclass(frozen=True, slots=True)
class Script:
    """A file of requests."""

    name: str
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request at its moment, what came of it, and where it is written. `stored`: the rows that there were. `shown`:
    the places of the contract that its headers, body and events came from; `refused_for`: those for which it refused.
    """

    told: Told
    moment: Moment
    seen: Seen
    stored: tuple[str, ...]
    where: str
    shown: frozenset[Place]
    refused_for: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole contract with its fixed requests. `opened`: the rows that it states."""

    loaded: Loaded
    plan: ServicePlan
    given: Mapping[str, str]
    identity: Identity
    opened: tuple[tuple[str, str], ...]
    asked: tuple[Asked, ...]

    def rehearsal(self, plan: ServicePlan) -> Rehearsal:
        """Another plan, asked in the same surroundings."""
        return Rehearsal(plan, self.given, self.fetch)

    def fetch(self, url: str) -> Fetched | Unreachable:
        body = self.identity.document(url)
        return Unreachable("nobody is there") if body is None else Fetched(body, None)


def rehearse(loaded: Loaded, scripts: Iterable[Script], operator: Mapping[str, str], stands_in: bool = True) -> Whole:
    """Tell a contract its requests. The rows go on from file to file; rates begin anew, as they do in a new process.
    `stands_in`: somebody is the issuer of tokens where the operator names none; else what needs one is not served.
    Raises Unreadable where a request cannot be told, or is not answered with the status that its file expects."""
    assert loaded.plan is not None, "a contract with errors answers nothing"
    passed = 0
    identity = Identity(ISSUER, lambda: BEGINNING + timedelta(microseconds=passed))
    given = identity.take_over(loaded.plan, operator) if stands_in else dict(operator)
    whole = Whole(loaded, loaded.plan, given, identity, (), ())
    rehearsal = whole.rehearsal(loaded.plan)
    opened = rehearsal.opened()
    asked: list[Asked] = []
    for script in scripts:
        known: Known = {}
        counted: Mapping[str, Any] = {}
        for exchange in script.exchanges:
            passed += BETWEEN + exchange.after
            now = rehearsal.moment(len(asked), passed)
            moment = Moment(now.number, now.passed, now.state, now.schema, counted)
            rehearsal.put(moment)
            where = f"{script.name}:{exchange.line}"
            try:
                told = _told(exchange, known, _token(identity))
            except Unreadable as error:
                raise Unreadable(f"{where}: {error}") from None
            stored = rehearsal.stored()
            seen = rehearsal.ask(told, moment)
            counted = rehearsal.counted()
            found = attributed(loaded.plan, seen)
            asked.append(Asked(told, moment, seen, stored, where, shown(found), refused_for(found)))
            _compare(exchange, seen, known, where)
    rehearsal.close()
    return Whole(loaded, loaded.plan, given, identity, opened, tuple(asked))


def _told(exchange: Exchange, known: Mapping[str, Any], token: Token) -> Told:
    path, _, query = filled(exchange.target, known, token).partition("?")
    body = filled(exchange.content, known, token).encode()
    headers: dict[str, str] = {}
    for name, text in exchange.headers:
        name, value = name.lower(), filled(text, known, token)
        headers[name] = f"{headers[name]}{'; ' if name == 'cookie' else ', '}{value}" if name in headers else value
    if body and "transfer-encoding" not in headers:
        headers.setdefault("content-length", str(len(body)))
    return Told(exchange.method, _sent(path), _sent(query), headers, body, exchange.happening)


def _sent(text: str) -> bytes:
    return quote(text, safe="!#$%&'()*+,/:;=?@[]-._~|<>\\^`{}\"").encode("ascii")


def _token(identity: Identity) -> Token:
    def token(scheme: str, claims: Mapping[str, Any]) -> str | None:
        return identity.token(scheme, claims) if scheme in identity.audiences else None

    return token


def _compare(exchange: Exchange, seen: Seen, known: Known, where: str) -> None:
    if exchange.expected is None:
        return
    if seen.status != exchange.expected.status:
        body = seen.body.decode("utf-8", "replace")
        raise Unreadable(f"{where}: {exchange.expected.status} is expected, and {seen.status} came\n{body}")
    learn(exchange.expected, dict(seen.headers), seen.body.decode("utf-8", "replace"), known)


def scripts(files: Sequence[tuple[str, str]]) -> tuple[Script, ...]:
    """`files`: the name and the text of each. Raises Unreadable."""
    found = []
    for name, text in files:
        try:
            found.append(Script(name, tuple(read_exchanges(text))))
        except Unreadable as error:
            raise Unreadable(f"{name}: {error}") from None
    return tuple(found)
