"""A contract without each of its facts, one after another, asked its fixed requests: in several processes, each of
which compiles the contract for itself and takes its share of the facts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from typing import TypeAlias

import msgspec
from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.ablate.compare import Change
from ninefold.diff.ablate.facts import REMOVALS, Removal, Said, Written, instead, without, written
from ninefold.diff.ablate.fixed import Asked, Whole, rehearse, scripts
from ninefold.diff.ablate.law import Found, failing, judge
from ninefold.diff.ablate.removed import Removed
from ninefold.diff.rehearsal import Rehearsal, Seen, Told
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.plan.service import ServicePlan
from ninefold.syntax.nodes import Document
from ninefold.trace import identifier

_APART = frozenset(("gaps", "not_in_force", "operator_operations", "proposals", "routes", "stored", "versions"))
"""What of a plan is words for people, or what no request reaches, so that no response is another; or stands apart."""


Compiler: TypeAlias = Callable[[Document], Loaded]
"""From a document to a plan."""

_CONDITIONS = ("if-match", "if-none-match")
"""Headers of requests that hold an entity tag."""


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A plan, encoded piece by piece: each route of each version (empty: that of the plan itself) with what counts its
    requests and what it is called in the version above, and all else."""

    routes: dict[tuple[str, str], bytes]
    rest: bytes

    @property
    def digest(self) -> bytes:
        return sha256(msgspec.msgpack.encode(([*self.routes.items()], self.rest))).digest()


_Answers: TypeAlias = tuple[tuple[Change, ...], tuple[tuple[str, str], ...]]
"""The requests that a plan answers in another way, and the rows that it states."""


def ablate(
    whole: Whole,
    facts: Iterable[Written] | None = None,
    removals: Sequence[Removal] = REMOVALS,
    compiler: Compiler = compile_tree,
) -> Iterator[Found]:
    """What comes of each removal of each fact, or of some facts. `compiler`: what is judged."""
    pieces = _pieces(whole.plan)
    known: dict[bytes, _Answers] = {}  # what two removals leave of a contract is often the same
    for fact in written(whole.loaded.document) if facts is None else facts:
        for removal in removals:
            try:
                yield _removed(whole, pieces, known, fact, removal, compiler)
            except Exception as error:
                yield failing(fact, removal, error)


def _removed(
    whole: Whole,
    pieces: _Pieces,
    known: dict[bytes, _Answers],
    fact: Written,
    removal: Removal,
    compiler: Compiler,
) -> Found:
    @cache
    def as_if(said: Said) -> tuple[Change, ...] | None:
        found = _answers(whole, pieces, known, compiler(instead(whole.loaded.document, fact, said)))
        return None if found is None else found[0]

    loaded = compiler(without(whole.loaded.document, fact, removal))
    changes, opened = _answers(whole, pieces, known, loaded) or ((), whole.opened)
    opened_less = None if opened == whole.opened else set(opened) <= set(whole.opened)
    return judge(Removed(whole, fact, removal, loaded, as_if), changes, opened_less)


def _answers(whole: Whole, pieces: _Pieces, known: dict[bytes, _Answers], loaded: Loaded) -> _Answers | None:
    """What another contract answers in another way; None: it has errors, and no plan."""
    if loaded.plan is None:
        return None
    left = _pieces(loaded.plan)
    if left == pieces:
        return (), whole.opened
    if left.digest not in known:
        known[left.digest] = _asked_of(whole, pieces, loaded.plan, left)
    changes, opened = known[left.digest]
    digest = identifier.digest(loaded.plan) if changes else ""
    return tuple(_named_anew(each, digest) for each in changes), opened


def _named_anew(change: Change, digest: str) -> Change:
    """The same of a plan that differs in words alone, of which the identifiers of causes are."""
    text = change.new.trace
    own = identifier.write(digest, identifier.read(text, text.split(".")[1]))
    return change if own == text else replace(change, new=replace(change.new, trace=own))


def asked_of(whole: Whole, plan: ServicePlan) -> tuple[Change, ...]:
    """The fixed requests of a contract that another plan answers in another way."""
    return _asked_of(whole, _pieces(whole.plan), plan, _pieces(plan))[0]


def _asked_of(whole: Whole, pieces: _Pieces, plan: ServicePlan, left: _Pieces) -> _Answers:
    """The same, and the rows that the other one states. `left`: its pieces."""
    rehearsal = whole.rehearsal(plan)
    opened = rehearsal.opened()
    changes = tuple(changes_of(_concerned(whole.asked, pieces, left), rehearsal))
    rehearsal.close()
    return changes, opened


def changes_of(asked: Iterable[Asked], rehearsal: Rehearsal) -> Iterator[Change]:
    """The requests that another plan, which has been opened, answers in another way, one after another."""
    tags: dict[str, str] = {}
    lost: set[str] = set()
    for each in asked:
        if any(tag in each.told.headers.get(name, "") for name in _CONDITIONS for tag in lost):
            # The tag that it was given is one of a response that is not there now, and so is the one that it gave.
            lost |= {tag for tag in (_tag(each.seen),) if tag is not None}
            continue
        rehearsal.put(each.moment)
        new = _with_tag(each.seen, rehearsal.ask(_with_tags(each.told, tags), each.moment), tags)
        if (tag := _tag(each.seen)) is not None and _tag(new) is None:
            lost.add(tag)
        if new != each.seen:
            yield Change(each, new)


def _with_tags(told: Told, tags: Mapping[str, str]) -> Told:
    """The request with the entity tags that it was given this time: a tag stands for what is shown, and may be
    another one for another contract (RFC 9110 8.8.3)."""
    headers = dict(told.headers)
    for name in _CONDITIONS:
        for before, now in tags.items() if name in headers else ():
            headers[name] = headers[name].replace(before, now)
    return replace(told, headers=headers) if headers != told.headers else told


def _with_tag(old: Seen, new: Seen, tags: dict[str, str]) -> Seen:
    """The response with the entity tag that was there before, where it has one as before."""
    before, now = _tag(old), _tag(new)
    if before is None or now is None or before == now:
        return new
    tags[before] = now
    return replace(new, headers=tuple((name, before if name == "etag" else value) for name, value in new.headers))


def _tag(seen: Seen) -> str | None:
    return dict(seen.headers).get("etag")


def _pieces(plan: ServicePlan) -> _Pieces:
    older = () if plan.versions is None else plan.versions.versions
    encode, rates = msgspec.msgpack.encode, plan.limits.rates
    routes = {
        ("", route.key): encode((route, [rate.name for rate in rates if route.key in rate.endpoints]))
        for route in plan.routes
    } | {
        (each.name, route.key): encode((route, each.counted.get(route.key))) for each in older for route in each.routes
    }
    rest = {name: getattr(plan, name) for name in plan.__struct_fields__ if name not in _APART}
    rest["limits"] = structs.replace(plan.limits, rates=[structs.replace(rate, endpoints=()) for rate in rates])
    bare = tuple(structs.replace(each, routes=(), counted={}) for each in older)
    rest["versions"] = None if plan.versions is None else structs.replace(plan.versions, versions=bare)
    return _Pieces(routes, msgspec.msgpack.encode(rest))


def _concerned(asked: tuple[Asked, ...], old: _Pieces, new: _Pieces) -> tuple[Asked, ...]:
    """The requests that a difference between two plans can concern: what else happens to a request is in its route."""
    if old.rest != new.rest or old.routes.keys() != new.routes.keys():
        return asked
    other = {key[1] for key, route in old.routes.items() if route != new.routes[key]}
    return tuple(each for each in asked if each.seen.endpoint in other)


@dataclass(frozen=True, slots=True)
class Work:
    """A contract by its name and text, its requests by file, and what the operator gives. `only`: a pattern of the
    addresses of facts."""

    name: str
    data: bytes
    files: tuple[tuple[str, str], ...]
    operator: Mapping[str, str]
    only: str = "*"
    removals: Sequence[Removal] = REMOVALS

    def whole(self) -> Whole:
        """Raises `ninefold.diff.requests.Unreadable`."""
        return rehearse(compile_document(self.name, self.data), scripts(self.files), self.operator)

    def found(self, share: int = 0, of: int = 1) -> list[Found]:
        """What comes of every `of`-th fact, from the one with the number `share` on."""
        whole = self.whole()
        facts = [fact for fact in written(whole.loaded.document) if fnmatchcase(fact.address, self.only)]
        with _unlogged():
            return list(ablate(whole, facts[share::of], self.removals))


@contextmanager
def _unlogged() -> Iterator[None]:
    """What fails for want of a fact is a finding, not a line of a log."""
    log = logging.getLogger("ninefold.server")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def found(work: Work, processes: int) -> list[Found]:
    """What comes of all facts, in the contract's order."""
    if processes == 1:
        return work.found()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        shares = [pool.submit(work.found, share, processes) for share in range(processes)]
        return sorted((each for share in shares for each in share.result()), key=_position)


def _position(each: Found) -> tuple[int, tuple[int, ...], int]:
    return each.fact.part, each.fact.route, REMOVALS.index(each.removal)
