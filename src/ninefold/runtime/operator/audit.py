"""Rows that are not as the contract says: it was changed after they were written.

A database notes which schema each field's rows are known to fit, by a digest. Where a contract has another one, they
are looked at before anything is served; rows that do not fit are a decision, unless it was decided to leave them as
they are: then they are counted each time, and served.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256
from itertools import chain
from math import inf
from time import monotonic
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import msgspec

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Source
from ninefold.expressions.binds import binder
from ninefold.plan.schema import Stored as StoredRows
from ninefold.runtime.messages.schemas import refuse_to_fetch
from ninefold.runtime.sources import Sources
from ninefold.runtime.store import record
from ninefold.runtime.store.protocol import Row, Session, Stored, Unfit
from ninefold.sql import credentials
from ninefold.values.stored import sqlite_reader

SECONDS = 2.0
"""How long counting may take in all."""

NAMED = 3
"""Rows of which the primary keys are told, of each field."""

_BATCH = 500

Select = Callable[[str, Sequence[Stored]], Sequence[Row]]


Others = Callable[[tuple[str, str] | None], Iterable[tuple[str, str, str]]]
"""Of the contract that rows were served with last, by its name and its text (None: none is kept): the fields that hold
something else in them than they do now, each as its resource, its name and a sentence."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The contract that rows are to be served with, which is kept beside them."""

    source: Source
    others: Others


@dataclass
class Misfits:
    """The rows that do not fit one field, or break one `check`: how many, and the primary keys of the first."""

    name: str
    check: str | None = None
    count: int = 0
    rows: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        """No value of a row is in them."""
        keys, more = "primary key" if self.count == 1 else "primary keys", ", …" if self.count > len(self.rows) else ""
        named = f" ({keys} {', '.join(self.rows)}{more})" if self.rows else ""
        if self.check is not None:
            broken = "1 row breaks" if self.count == 1 else f"{self.count:,} rows break"
            return f"{broken} `{self.name}`, which is `{self.check}`{named}"
        fit = "1 row does not fit" if self.count == 1 else f"{self.count:,} rows do not fit"
        return f"{fit} `{self.name}` any more{named}"


@dataclass(frozen=True, slots=True)
class Ended:
    """The credentials that were issued to rows of a resource as of a scheme, which the contract has not any more, or
    issues none of: how many would last."""

    scheme: str
    resource: str
    count: int

    @property
    def words(self) -> str:
        what, are = ("1 credential", "is") if self.count == 1 else (f"{self.count:,} credentials", "are")
        issued = f"{what} of `{self.scheme}`, issued to rows of `{self.resource}`, {are} good for nothing now"
        return f"{issued}: no scheme that issues is called so"


@dataclass(frozen=True, slots=True)
class Counted:
    """`fields`: those with rows that do not fit. `ended`: what is issued and means nothing, where the contract is
    another than before. `unfinished`: the resources of which not all rows were looked at in so many `seconds`, each
    with how many were."""

    fields: tuple[Misfits, ...] = ()
    ended: tuple[Ended, ...] = ()
    unfinished: tuple[tuple[str, int], ...] = ()
    seconds: float = SECONDS

    def words(self) -> Iterator[str]:
        """A line for each field, and one for what was not looked at. No value of a row is in them."""
        yield from (each.words for each in self.fields)
        yield from (each.words for each in self.ended)
        yield from self.cut()

    def cut(self) -> Iterator[str]:
        """A line for what was not looked at, if there is anything."""
        if self.unfinished:
            rows = " and ".join(f"{count:,} rows of `{name}`" for name, count in self.unfinished)
            yield f"counting was cut after {self.seconds:g} seconds: it has looked at {rows}, and there are more"


class Audit:
    """What `plan.stored` says of the rows of a database, judged when it is opened
    (`ninefold.runtime.store.protocol.Judge`), and noted with them: the `contract` that they are served with. What
    they hold of another one has to be moved before. `counted`: what came of it. `seconds`: inf where somebody waits
    for the whole of it. `issuing`: the schemes whose credentials the service issues, each with the resource of whose
    rows they are; what was issued otherwise is counted when the contract comes, and where somebody waits for all."""

    def __init__(
        self,
        stored: Sequence[StoredRows],
        seconds: float = SECONDS,
        contract: Kept | None = None,
        issuing: Mapping[str, str] = MappingProxyType({}),
        sources: Sources = Sources(),  # noqa: B008 - frozen
    ) -> None:
        self.counted = Counted()
        self._issuing = issuing
        self._sources = sources
        self._stored = stored
        self._seconds = seconds
        self._contract = contract

    def __call__(self, session: Session, left: Collection[str] = ()) -> tuple[Unfit, ...]:
        """Rows that nobody decided to leave; where there are any, nothing is noted."""
        if others := tuple(self._others(session)):
            return others
        noted = record.fit(session)
        fit = _Fit() if noted is None else msgspec.json.decode(noted, type=_Fit)
        wanted = {name: digest for each in self._stored for name, digest in _digests(each)}
        known = {name for name, digest in wanted.items() if fit.known.get(name) == digest}
        may_be_left = {name for name, digest in wanted.items() if name in left or fit.left.get(name) == digest}
        self.counted = found = counted(self._stored, session.run, self._seconds, known)
        unknown = {name for name, _ in found.unfinished}
        of_unknown = [
            name for each in self._stored if each.resource in unknown for name, _ in _digests(each) if name not in known
        ]
        unfit = [
            Unfit(each.name, each.words, each.check is None) for each in found.fields if each.name not in may_be_left
        ]
        if not may_be_left.issuperset(of_unknown):
            unfit += [Unfit(of_unknown[0], words, True) for words in found.cut()]
        if not unfit:
            misfits = {each.name for each in found.fields}
            after = _Fit(
                {name: digest for name, digest in wanted.items() if name not in misfits and name not in of_unknown},
                {name: digest for name, digest in wanted.items() if name in misfits or name in of_unknown},
            )
            if self._contract is not None:
                source = self._contract.source
                if self._seconds == inf or record.served_with(session) != (source.name, source.text):
                    self.counted = replace(found, ended=tuple(self._ended(session)))
                record.note_contract(session, source.name, source.text)
            if after != fit:
                record.note_fit(session, msgspec.json.encode(after, order="deterministic"))
        return tuple(unfit)

    def _ended(self, session: Session) -> Iterator[Ended]:
        for resource in record.issued_to(session):
            for scheme, count in session.run(credentials.last(resource), (self._sources.now(),)):
                if self._issuing.get(str(scheme)) != resource:
                    yield Ended(str(scheme), resource, int(str(count)))

    def _others(self, session: Session) -> Iterator[Unfit]:
        if self._contract is None:
            return
        selects = {each.resource: each for each in self._stored}
        for resource, name, words in self._contract.others(record.served_with(session)):
            rows = selects.get(resource)
            if rows is not None and session.run(rows.select, (*_constants(rows), *rows.begin, 1)):
                yield Unfit(f"{resource}.{name}", f"field `{resource}.{name}` {words}", True)


def _constants(stored: StoredRows) -> tuple[Stored, ...]:
    return tuple(binder(each)({}) for rule in stored.rules for each in rule.binds)


class _Fit(msgspec.Struct, frozen=True):
    """What is noted of fields (`order.note`), each with a digest of its schema: those that all rows fit (`known`), and
    those whose rows are left as they are."""

    known: Mapping[str, str] = {}
    left: Mapping[str, str] = {}


def _digests(stored: StoredRows) -> Iterator[tuple[str, str]]:
    """Of each field and of each `check` by which it is known whether it is another; several may have one name."""
    found = dict[str, bytes]()
    for held in stored.fields:
        found[stored.named(held)] = msgspec.json.encode(held.schema, order="deterministic")
    for rule in stored.rules:
        found[rule.name] = found.get(rule.name, b"") + rule.words.encode() + b"\0"
    return ((name, sha256(each).hexdigest()[:16]) for name, each in found.items())


def counted(
    stored: Sequence[StoredRows], select: Select, seconds: float = SECONDS, known: Collection[str] = ()
) -> Counted:
    """Look at all rows, as far as the time suffices: some of each resource in turn, so that a large one hides no
    other. `known`: fields of which it is known that all rows fit."""
    end = monotonic() + seconds
    waiting = [each for each in (_Counting(each, known) for each in stored) if each.looks]
    begun = tuple(waiting)
    while waiting and monotonic() < end:
        waiting = [each for each in waiting if each.goes_on(select, end)]
    return Counted(
        tuple(misfits for each in begun for misfits in each.misfits if misfits.count),
        unfinished=tuple((each.resource, each.seen) for each in waiting),
        seconds=seconds,
    )


class _Counting:
    """The rows of one resource, a batch at a time."""

    def __init__(self, stored: StoredRows, known: Collection[str]) -> None:
        self.resource = stored.resource
        self.seen = 0
        self._stored = stored
        self._after = stored.begin
        start = stored.cells + stored.key
        self._fields = [
            (
                start + number,
                sqlite_reader(held.column.type),
                jsonschema_rs.Draft202012Validator(held.schema, validate_formats=True, retriever=refuse_to_fetch),
                Misfits(name),
            )
            for number, held in enumerate(stored.fields)
            if (name := stored.named(held)) not in known
        ]
        self._binds = _constants(stored)
        self._rules = [
            (start + len(stored.fields) + number, Misfits(rule.name, rule.words))
            for number, rule in enumerate(stored.rules)
            if rule.name not in known
        ]

    @property
    def looks(self) -> bool:
        """Whether there is anything that has to be looked at."""
        return bool(self._fields or self._rules)

    @property
    def misfits(self) -> Iterator[Misfits]:
        return chain((misfits for *_, misfits in self._fields), (misfits for _, misfits in self._rules))

    def goes_on(self, select: Select, end: float) -> bool:
        """Whether there may be more rows."""
        rows = select(self._stored.select, (*self._binds, *self._after, _BATCH))
        for row in rows:
            if monotonic() > end:
                return True
            self._look(row)
        return len(rows) == _BATCH

    def _look(self, row: Row) -> None:
        self._after = self._stored.behind(row)
        self.seen += 1
        for at, read, validator, misfits in self._fields:
            stored: Any = row[at]
            if stored is None or validator.is_valid(stored if read is None else read(stored)):
                continue
            self._note(misfits, row)
        for at, misfits in self._rules:
            if not row[at]:
                self._note(misfits, row)

    def _note(self, misfits: Misfits, row: Row) -> None:
        misfits.count += 1
        if self._stored.shown and self._stored.key and len(misfits.rows) < NAMED:
            misfits.rows.append("/".join(map(str, row[self._stored.cells :][: self._stored.key])))
