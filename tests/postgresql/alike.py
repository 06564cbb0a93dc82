"""A case told to its service over SQLite and over PostgreSQL, at the same time of the same clock, by the same chance.

Each response has to be the same on both, to the byte. What may differ is `MAY_DIFFER`, and what chance gives besides: a
row is named by its revision, of which more are drawn where a write is tried again, so that of entity tags it is asked
that they are equal where those of the other are.

The requests of a case are told as they are written, and then, to what they left behind, mutants of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote

from tests.agreement.service import BEGIN, Fate, RealService, Sent
from tests.contracts import compiled, contract_of, operator_of
from tests.postgresql import server
from tests.postgresql.mutants import mutated
from tests.reference.messages import Request

from ninefold.diff.requests import NAME, Exchange, Known, filled, learn, read_exchanges
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Refused, Row, Store, Stored

MAY_DIFFER: Final[Mapping[str, str]] = {
    "ratelimit": "what nodes count together is counted by the clock of their database",
    "retry-after": "as is when the next one may come",
}
"""The headers that are not compared, and why."""


COUNTED: Final = {"sqlite": ("sqlite_sequence", "name"), "postgresql": ('"$number"', '"table"')}
"""Where the last number of each table is, by dialect, and the column of its name."""


class Chance(Fate):
    """The same bytes for the same request, however often others were asked for before."""

    def next(self) -> None:
        self.number, self.made = self.number + 1, self.number * 1_000_000
        self.now = (BEGIN + timedelta(milliseconds=self.number)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Side(RealService):
    """A service of a case, over the database at a URL; None: over a file of its own."""

    functions = {}  # noqa: RUF012 - nobody changes it

    def __init__(self, plan: ServicePlan, url: str | None, given: Mapping[str, str]) -> None:
        self.chance = Chance()
        super().__init__(plan, (), self.chance)
        self.given, self._url = given, url

    def _opened(self, directory: Path) -> Store:
        url = self._url or str(directory / "service.db")
        opened = open_database(url, self._plan, stated_rows(self._plan, Caller(self.given, self.sources)))
        assert not isinstance(opened, Refused), opened
        return opened.database

    def anew(self) -> None:
        """As in a new process, in which nothing is counted yet."""
        rates = self._application.service.rates
        for each in rates:
            each.resume(None)
        if rates and self._url is not None:
            server.run(self._url, 'DELETE FROM "$state"')

    def numbers(self) -> dict[str, int]:
        """The last number that was given to the rows of each resource."""
        if not any(column.serial for table in self._plan.schema.tables for column in table.columns):
            return {}
        rows = self._run(f"SELECT * FROM {COUNTED[self._plan.dialect][0]}")
        return {str(table): int(last or 0) for table, last in rows if not str(table).startswith("$")}

    def number(self, table: str, last: int) -> None:
        counted, name = COUNTED[self._plan.dialect]
        self._run(f"DELETE FROM {counted} WHERE {name} = ?", table)
        self._run(f"INSERT INTO {counted} VALUES (?, ?)", table, last)

    def _run(self, text: str, *binds: Stored) -> list[Row]:
        async def done() -> list[Row]:
            return await self._database.transact(lambda session: session.run(text, binds))

        return self._loop.run_until_complete(done())


@dataclass
class Beside:
    """Two services, which are told the same. `told`: how many requests; `differences`: what is not alike, in words."""

    one: Side
    other: Side
    tags: dict[str, str] = field(default_factory=dict)
    told: int = 0
    differences: list[str] = field(default_factory=list)

    def anew(self) -> None:
        self.one.anew()
        self.other.anew()

    def numbered(self) -> None:
        """Both give the same numbers from here on: which of them are left out may differ (`serial()`)."""
        one, other = self.one.numbers(), self.other.numbers()
        for table in one.keys() | other.keys():
            last = max(one.get(table, 0), other.get(table, 0))
            for side, numbers in ((self.one, one), (self.other, other)):
                if numbers.get(table, 0) != last:
                    side.number(table, last)

    def tell(self, request: Request, where: str) -> Sent:
        """What the first of them answers."""
        self.one.chance.next()
        self.other.chance.next()
        self.told += 1
        expected = self.one.sent(request)
        tagged = {name: self._for_the_other(value) for name, value in request.headers.items()}
        came = self.other.sent(replace(request, headers=tagged))
        if why := self._why(expected, came):
            self.differences.append(f"{where} {request.method} {request.target} {request.body!r}: {why}")
        if request.method not in ("GET", "HEAD"):
            self.numbered()
        return expected

    def _for_the_other(self, value: str) -> str:
        for tag, other in self.tags.items():
            value = value.replace(tag, other)
        return value

    def _why(self, one: Sent, other: Sent) -> str | None:
        if one[0] != other[0]:
            return f"{one[0]} {one[2]!r} is not {other[0]} {other[2]!r}"
        tag, tagged = one[1].get("etag"), other[1].get("etag")
        if tag is not None and tagged is not None and self.tags.setdefault(tag, tagged) != tagged:
            return f"etag: {tag} was {self.tags[tag]}, and is {tagged}"
        for name in sorted({*one[1], *other[1]} - {*MAY_DIFFER, "etag"}):
            if one[1].get(name) != other[1].get(name):
                return f"{name}: {one[1].get(name)} is not {other[1].get(name)}"
        return None if one[2] == other[2] else f"{one[2]!r} is not {other[2]!r}"


def exchanges(directory: Path) -> list[tuple[str, list[Exchange]]]:
    files = sorted((directory / "http").glob("*.http"))
    return [(path.name, read_exchanges(path.read_text(encoding="utf-8"))) for path in files]


def request(exchange: Exchange, known: Known) -> Request:
    headers: dict[str, str] = {}
    for name, text in exchange.headers:
        name, value = name.lower(), _filled(text, known)
        headers[name] = f"{headers[name]}{'; ' if name == 'cookie' else ', '}{value}" if name in headers else value
    headers.pop("transfer-encoding", None)
    target = quote(_filled(exchange.target, known), safe="!#$%&'()*+,/:;=?@[]-._~|<>\\^`{}\"")
    return Request(exchange.method, target, headers, _filled(exchange.content, known).encode() or None)


def _filled(text: str, known: Known) -> str:
    """What nothing has said is nothing."""
    return filled(NAME.sub(lambda match: match[0] if match[1] in known else "unheard-of", text), known)


def told(directory: Path, mutants: int, seed: int = 0, loaded: Loaded | None = None) -> Beside:
    """A case told to both, and so many mutants of each of its requests. `loaded`: its contract, compiled otherwise."""
    loaded = loaded or compiled(contract_of(directory))
    plans = loaded.plan_for("sqlite"), loaded.plan_for("postgresql")
    assert plans[0] is not None and plans[1] is not None
    given, random = operator_of(directory), Random(f"{directory.name} {seed}")
    with Side(plans[0], None, given) as one, Side(plans[1], server.database(), given) as other:
        beside, every = Beside(one, other), list[tuple[str, Exchange, Known]]()
        for name, of in exchanges(directory):
            beside.anew()
            known = Known()
            for exchange in of:
                where = f"{name}:{exchange.line}"
                _, headers, content = beside.tell(request(exchange, known), where)
                if exchange.expected is not None:
                    learn(exchange.expected, headers, content.decode("utf-8", "replace"), known)
                every.append((where, exchange, known))
        for where, exchange, known in every if mutants else ():
            beside.anew()
            for number in range(mutants):
                beside.tell(mutated(request(exchange, known), random), f"{where} mutant {number}")
    return beside
