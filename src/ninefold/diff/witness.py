"""Requests that show a difference: told to the old contract, to it with the difference alone, and to the new one, in
process. What both contracts answer alike shows nothing, whatever was expected of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import cache
from typing import Final
from urllib.parse import parse_qsl, unquote

from ninefold.development.identity import Identity
from ninefold.diff.ablate.ablate import changes_of
from ninefold.diff.ablate.compare import Change, is_blocked, refuses, says_the_same, shows_more
from ninefold.diff.ablate.fixed import ISSUER, Asked, Whole
from ninefold.diff.asking import Asking, Enough
from ninefold.diff.changes import changes
from ninefold.diff.compare import Showing
from ninefold.diff.finding import Finding, Witness
from ninefold.diff.normal import words_of
from ninefold.diff.people import furnish, people, with_tokens
from ninefold.diff.rehearsal import BEGINNING, Rehearsal, Seen, Told
from ninefold.diff.said import said
from ninefold.pipeline import Loaded
from ninefold.plan.routes import Blocked
from ninefold.plan.service import ServicePlan
from ninefold.upgrade.shape import encode_shape

ENOUGH: Final = 40
"""Requests that are answered otherwise, of which the one is taken that shows it best."""

LONGEST: Final = 160
"""Characters of an answer that are shown."""


def until(seconds: float) -> Callable[[], bool]:
    """Whether so many seconds of work have passed, however busy the machine is."""
    end = time.process_time() + seconds
    return lambda: time.process_time() > end


def made(old: Loaded, new: Loaded, operator: Mapping[str, str], is_over: Callable[[], bool]) -> Whole:
    """Requests that are made of two contracts, told to the old one."""
    assert old.plan is not None and new.plan is not None
    asking: Asking | None = None
    identity = Identity(ISSUER, lambda: BEGINNING + timedelta(microseconds=0 if asking is None else asking.passed))
    given = identity.take_over(old.plan, operator)
    whole = Whole(old, old.plan, given, identity, (), ())
    rehearsal = whole.rehearsal(old.plan)
    opened = rehearsal.opened()
    found = changes(old.document, new.document, words_of(old.document), words_of(new.document))
    furnish(old.plan, rehearsal, given)
    asking = Asking(rehearsal, (old.plan, new.plan), said(found), is_over)
    asking.people = people(old.plan, new.plan, rehearsal, given, identity)
    plans = old.plan, new.plan
    asking.again = lambda: [person for _, person in with_tokens(*plans, identity)]
    try:
        asking.all()
    except Enough:
        pass
    rehearsal.close()
    return Whole(old, old.plan, given, identity, opened, tuple(asking.asked))


def showing(
    new: ServicePlan, recorded: Whole | None, make: Callable[[], Whole] | None, is_over: Callable[[], bool]
) -> Showing:
    """By requests that somebody has written down, then by those that are made, once there is something to show."""

    @cache
    def own() -> Whole | None:
        return None if make is None else make()

    def opened(whole: Whole, plan: ServicePlan) -> Rehearsal:
        rehearsal = whole.rehearsal(plan)
        rehearsal.opened()
        return rehearsal

    @cache
    def confirming(is_own: bool) -> Rehearsal:
        whole = own() if is_own else recorded
        assert whole is not None
        return opened(whole, new)

    def shown(plan: ServicePlan, finding: Finding, base: ServicePlan | None) -> tuple[Witness | None, int]:
        told = 0
        for is_own in (False, True):
            whole = None if is_over() else own() if is_own else recorded
            if whole is not None:
                seeking = _Seeking(whole, plan, finding, is_over)
                now = confirming(is_own)
                rehearsal = now if plan is new else opened(whole, plan)
                beside = None if base is None else opened(whole, base)
                best = seeking.best(rehearsal, now, beside)
                for each in (rehearsal, beside):
                    if each is not now and each is not None:
                        each.close()
                told += seeking.told
                if best is not None:
                    return _witness(best, whole if is_own else None), told
        return None, told

    return shown


class _Seeking:
    """The request that shows a finding best, of those of one file or of those that were made."""

    def __init__(self, whole: Whole, plan: ServicePlan, finding: Finding, is_over: Callable[[], bool]) -> None:
        self._whole, self._plan, self._finding, self._is_over = whole, plan, finding, is_over
        self._blocked = {each.key for each in plan.routes if isinstance(each, Blocked)}
        self._carries = encode_shape(plan.schema) != encode_shape(whole.plan.schema)
        self.told = 0

    def best(self, rehearsal: Rehearsal, confirming: Rehearsal, beside: Rehearsal | None) -> Change | None:
        """`rehearsal`: of the old contract with the difference alone, `confirming`: of the new one, `beside`: of the
        old one with what the difference is made beside."""
        found: list[tuple[int, int, Change]] = []
        for each in changes_of(self._counted(), rehearsal):
            rank = self._rank(each)
            if rank is None or not self._at(each.asked, each.new) or not _is_otherwise(each.asked, confirming):
                continue
            if beside is None or not _is_otherwise(each.asked, beside):
                found.append((rank, len(found), each))
                if rank == 0 or len(found) >= ENOUGH:
                    break
        return min(found, key=lambda each: each[:2])[2] if found else None

    def _counted(self) -> Iterator[Asked]:
        for each in self._whole.asked:
            if self._is_over():
                return
            of = self._finding.of_versions
            if of and version_of(each.told, self._whole.plan) not in of:
                continue
            if self._at(each, each.seen) or each.seen.endpoint is None:
                self.told += 1
                yield each

    def _at(self, asked: Asked, seen: Seen) -> bool:
        """Whether a request is one of the endpoints at which the finding is felt."""
        endpoints = self._finding.endpoints
        made_for = asked.where.partition("\0")[0]
        return self._finding.everywhere or not endpoints or bool({seen.endpoint, made_for} & {*endpoints})

    def _rank(self, each: Change) -> int | None:
        """How well it shows the finding, 0 best; None: not at all."""
        old, new = each.old, each.new
        if each.turns_on_a_tag or 500 in (old.status, new.status):
            return None
        if is_blocked(new) and new.endpoint not in self._blocked:
            return None  # an operator value is not given here
        if self._carries and not refuses(old) and new.status in (401, 404):
            return None  # its row, or the caller's, could not be carried into tables of another form
        if says_the_same(new, old):
            return 3
        match self._finding.verdict:
            case "breaking":
                return 0 if not refuses(old) else 1
            case "opens":
                return 0 if shows_more(new, old) else 2
            case _:
                return 0 if not refuses(old) or not refuses(new) else 1


def version_of(told: Told, plan: ServicePlan) -> str | None:
    """The version that a request asks a service for; None: nobody knows."""
    versions, named = plan.versions, None
    match None if versions is None else versions.by:
        case "header" if versions is not None:
            named = told.headers.get(versions.name.lower())
        case "query" if versions is not None:
            named = dict(parse_qsl(told.query.decode("latin-1"))).get(versions.name)
        case "path":
            segments = told.path.decode("latin-1").split("/")[1 + len(plan.base) :]
            return unquote(segments[0]) if segments else None
    default = None if versions is None or not isinstance(versions.default, str) else versions.default
    return default if named is None else named


def _is_otherwise(asked: Asked, confirming: Rehearsal) -> bool:
    """Whether the new contract answers a request otherwise than the old one."""
    confirming.put(asked.moment)
    return confirming.ask(asked.told, asked.moment) != asked.seen


def _witness(found: Change, made_of: Whole | None) -> Witness:
    was, now = _answers(found.old, found.new)
    if made_of is None:
        return Witness(f"{found.asked.where}: {_request(found.asked.told)}", was, now)
    _, who, state = found.asked.where.split("\0")
    body = _short(found.asked.told.body.decode("utf-8", "replace"), 0)
    told, versions = found.asked.told, made_of.plan.versions
    telling = (*_TELLING, versions.name.lower()) if versions is not None and versions.by == "header" else _TELLING
    more = [f"{name}: {value}" for name, value in told.headers.items() if name in telling]
    more += [HAPPENINGS[told.happening]] if told.happening is not None else []
    more += [f"{timedelta(microseconds=told.since)} after the first"] if told.since else []
    more += [f"after {timedelta(microseconds=each)}" for each in (found.asked.moment.passed,) if each >= SOON]
    by = who + (f", the {state.replace(' ', ' is ', 1)}" if state else "") + "".join(f", {each}" for each in more)
    return Witness(f"{_request(found.asked.told)} {body}".strip(), was, now, by)


HAPPENINGS: Final = {"again": "a second time", "timed out": "when its time is up"}
"""What befalls a request, as it is told."""

SOON: Final = 60_000_000
"""Microseconds from the first request on after which it is told when a request comes."""

_TELLING: Final = ("if-match", "if-none-match", "accept", "idempotency-key", "last-event-id")


def _request(told: Told) -> str:
    query = f"?{told.query.decode('latin-1')}" if told.query else ""
    return f"{told.method} {told.path.decode('latin-1')}{query}"


def _answers(old: Seen, new: Seen) -> tuple[str, str]:
    """Both answers where they differ."""
    if (old.status, old.body) != (new.status, new.body):
        texts = [each.body.decode("utf-8", "replace") for each in (old, new)]
        at = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
        start = at - LONGEST // 4 if at > LONGEST * 3 // 4 and old.status == new.status else 0
        return f"{old.status} {_short(texts[0], start)}".strip(), f"{new.status} {_short(texts[1], start)}".strip()
    if old.headers != new.headers:
        pairs = (({*old.headers} - {*new.headers}), ({*new.headers} - {*old.headers}))
        was, now = (", ".join(f"{name}: {value}" for name, value in sorted(each)) or "no such header" for each in pairs)
        return f"{old.status} with {was}", f"{new.status} with {now}"
    return f"{old.status}, and {_left(old, new)}", f"{new.status}, and {_left(new, old)}"


def _left(seen: Seen, other: Seen) -> str:
    """What a request leaves behind that the other one does not."""
    rows = [*(("stored", each) for each in seen.rows if each not in other.rows),
            *(("gone", each) for each in seen.gone if each not in other.gone)]  # fmt: skip
    if not rows:
        return "nothing else is stored"
    how, (table, row) = rows[0]
    beside: dict[str, object] = next(
        (json.loads(each) for name, each in (*other.rows, *other.gone) if name == table), {}
    )
    told = {name: value for name, value in json.loads(row).items() if name not in beside or beside[name] != value}
    return _short(f"{how}: {table.removeprefix('$')} {json.dumps(told)}", 0)


def _short(text: str, start: int) -> str:
    text = " ".join(text.split())
    end = start + LONGEST
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
