"""Rates: which requests are taken, and what a caller is told of it (part 8).

A rate counts by a key: a caller, an address, or the value of an expression. Where one process serves a database, the
states of its keys are kept in its memory, so a restart forgets them. What is kept is bounded: a key that is as if
nothing had been counted is forgotten, and beyond MOST the key that was counted least recently. Where several may serve
it, the database keeps the states (`ninefold.runtime.store.protocol.Nodes`), and all nodes count on them.

A request that several rates count is counted by all of them or, where one of them refuses it, by none.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from itertools import repeat
from operator import attrgetter, call
from typing import Any, TypeAlias, assert_never

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.tree import free_variables
from ninefold.plan import limits as plan
from ninefold.runtime.messages.message import HeaderFields, Request, header_value
from ninefold.runtime.request.algorithms import Algorithm, FixedWindow, SlidingWindow, Standing, TokenBucket
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.store.protocol import Changes
from ninefold.values.texts import apart

MOST = 4_000_000
"""Numbers that the states of one rate hold at most, of some 16 bytes each with what finds them."""

LONGEST = 64
"""Bytes of a value that is kept as it is; of a longer one its digest is, so that nobody makes keys of any length."""

Key: TypeAlias = str


class Rate:
    """A plan's rate made ready, with the states of its keys, the one that was counted least recently first."""

    def __init__(self, rate: plan.Rate, most: int = MOST) -> None:
        self.name = rate.name
        self.allow = rate.allow
        self.of = _key(rate.of)
        self.reads = frozenset[str]() if isinstance(rate.of, str) else frozenset(free_variables(rate.of))
        """The roots that its expression reads."""
        self.named = _string(rate.name)
        self.policy = _policy(rate, self.named)
        self._algorithm = algorithm(rate)
        self._grows, self._taken = self._algorithm.grows, self._algorithm.taken
        self._states: OrderedDict[Key, Any] = OrderedDict()
        self._most = most
        self._size = 0
        self._looks_at = 0

    def __len__(self) -> int:
        """How many keys are kept."""
        return len(self._states)

    def standing(self, key: Key, now: int) -> Standing:
        return self._algorithm.standing(self._states.get(key), now)

    def count(self, key: Key, now: int) -> Standing | None:
        """Count one more request: how the key stands then; None: none remained, and it is not counted."""
        states = self._states
        state = states.get(key)
        size = self._cost(state) if self._grows and state is not None else 0
        taken = self._taken(state, now)
        if taken is None:
            return None
        states[key], standing = taken
        if state is None or self._grows:
            self._size += self._cost(taken[0]) - size
        if state is not None:
            states.move_to_end(key)
        if now >= self._looks_at or self._size > self._most:
            self._forget(now)
        return standing

    def named_state(self, key: Key) -> bytes:
        """What the state of a key is called among those of all nodes."""
        return sha256(apart(str(self._algorithm), self.name, key).encode("utf-8", "surrogateescape")).digest()

    def read(self, stored: bytes | None, now: int) -> tuple[Any, int]:
        """A state that nodes have together, and the time: no clock goes back behind what was counted by another."""
        if stored is None:
            return None, now
        last, *numbers = json.loads(stored)
        return self._algorithm.state_of(numbers), max(last, now)

    def one_more(self, state: Any, now: int) -> tuple[Standing, bytes, int]:
        """The same as `count`, of such a state: how it stands then, what is kept of it and until when."""
        taken = self._algorithm.taken(state, now)
        assert taken is not None, "some remained"
        state, standing = taken
        return standing, json.dumps([now, *self._algorithm.numbers_of(state)]).encode(), now + standing.reset

    def stands(self, state: Any, now: int) -> Standing:
        return self._algorithm.standing(state, now)

    def counts(self) -> tuple[tuple[Key, Any], ...]:
        """What was counted: the states of the keys, which `resume` takes."""
        return deepcopy(tuple(self._states.items()))

    def resume(self, counts: tuple[tuple[Key, Any], ...] | None) -> None:
        """Go on from what was counted before, by this rate or by one of the same algorithm."""
        self._states = OrderedDict(deepcopy(counts or ()))
        self._size = sum(map(self._cost, self._states.values()))
        self._looks_at = 0

    def _forget(self, now: int) -> None:
        """Look at the two that were counted least recently: each key counted makes at most one new one, so what is
        as new goes faster than it comes. There is nothing to look for until the first of them is as new."""
        for _ in range(2):
            key, state = next(iter(self._states.items()))
            self._looks_at = now + self._algorithm.standing(state, now).reset
            if (self._looks_at > now and self._size <= self._most) or len(self._states) == 1:
                return
            del self._states[key]
            self._size -= self._cost(state)

    def _cost(self, state: Any) -> int:
        return 16 + self._algorithm.size(state)


def algorithm(rate: plan.Rate) -> Algorithm:
    per = rate.per_microseconds * 1_000
    match rate.algorithm:
        case "fixed window":
            return FixedWindow(rate.allow, per)
        case "sliding window":
            return SlidingWindow(rate.allow, per)
        case "token bucket":
            return TokenBucket(rate.allow, per, rate.burst)
        case _:
            assert_never(rate.algorithm)


# ── What is counted ───────────────────────────────────────────────────────────────────────────────────────────


class Asking(msgspec.Struct, frozen=True):
    """Of a request what a rate may count by. `caller`: as the credential says, admitted or not."""

    caller: Caller
    address: str
    env: Env


KeyOf: TypeAlias = Callable[[Caller, str, Env], Key | None]
"""Takes what a request is counted by (`Asking`) piece by piece: one that is made for each request costs as much as what
it is asked for."""


def _key(of: plan.Counted) -> KeyOf:
    match of:
        case "caller":
            return _caller
        case "address":
            return lambda caller, address, env: address
        case _:
            return _value(compile(of))


def _caller(caller: Caller, address: str, env: Env) -> Key:
    return caller.named(address)


def _value(evaluate: Callable[[Env], Any]) -> KeyOf:
    def key(caller: Caller, address: str, env: Env) -> Key | None:
        """None: the expression has no value for this request."""
        try:
            value = evaluate({**env, "caller": caller.values})
        except EvaluationError:
            return None
        if value is None:
            return None
        written = msgspec.json.encode(value, order="deterministic")
        return written.decode() if len(written) <= LONGEST else sha256(written).hexdigest()

    return key


class Told(msgspec.Struct, frozen=True):
    """How a rate stands after a request. `refused`: this rate is why the request was refused."""

    rate: Rate
    standing: Standing
    refused: bool


def count(rates: Sequence[Rate], asking: Asking, now: int) -> tuple[Told, ...]:
    """Count a request by all of its rates, or by none if one of them refuses it. A rate whose expression has no value
    for it takes no part."""
    return count_keys(keys_of(rates, asking), now)


def counter(
    rates: Sequence[Rate], elapsed: Callable[[], int]
) -> Callable[[Caller, Request, Env], tuple[Told, ...] | None]:
    """The same as one function. `elapsed`: gives the time. None: one of them refuses it."""
    if len(rates) == 1:
        return _counter_of_one(rates[0], elapsed)

    def counted(caller: Caller, request: Request, env: Env) -> tuple[Told, ...] | None:
        told = count(rates, Asking(caller, request.address, env), elapsed())
        return None if any(each.refused for each in told) else told

    return counted


def _counter_of_one(
    rate: Rate, elapsed: Callable[[], int]
) -> Callable[[Caller, Request, Env], tuple[Told, ...] | None]:
    key_of, count_key = rate.of, rate.count

    def counted(caller: Caller, request: Request, env: Env) -> tuple[Told, ...] | None:
        key = key_of(caller, request.address, env)
        if key is None:
            return ()
        stands = count_key(key, elapsed())
        return None if stands is None else (Told(rate, stands, False),)

    return counted


def keys_of(rates: Sequence[Rate], asking: Asking) -> list[tuple[Rate, Key]]:
    """The rates that take part in counting a request, each with the key that it counts by."""
    by = asking.caller, asking.address, asking.env
    return [(rate, key) for rate in rates if (key := rate.of(*by)) is not None]


def count_keys(keys: Sequence[tuple[Rate, Key]], now: int) -> tuple[Told, ...]:
    """The same of a request whose keys are known."""
    if len(keys) == 1:
        ((rate, key),) = keys
        stands = rate.count(key, now)
        return (Told(rate, rate.standing(key, now), True) if stands is None else Told(rate, stands, False),)
    before = [rate.standing(key, now) for rate, key in keys]
    if any(standing.remaining < 1 for standing in before):
        return tuple([Told(rate, stands, stands.remaining < 1) for (rate, _), stands in zip(keys, before, strict=True)])
    counted = [(rate, rate.count(key, now)) for rate, key in keys]
    return tuple([Told(rate, stands, False) for rate, stands in counted if stands is not None])


def count_together(rates: Sequence[Rate], asking: Asking) -> tuple[tuple[bytes, ...], Changes[tuple[Told, ...]]]:
    """The same on states that nodes have together: their names, and what changes them."""
    return count_keys_together(keys_of(rates, asking))


def count_keys_together(
    counted_by: Sequence[tuple[Rate, Key]],
) -> tuple[tuple[bytes, ...], Changes[tuple[Told, ...]]]:
    """The same of a request whose keys are known."""
    keys = [(rate, rate.named_state(key)) for rate, key in counted_by]

    def work(
        states: Mapping[bytes, bytes | None], now: int
    ) -> tuple[Mapping[bytes, tuple[bytes, int]], tuple[Told, ...]]:
        found = [(rate, name, *rate.read(states[name], now)) for rate, name in keys]
        before = [rate.stands(state, at) for rate, _, state, at in found]
        if any(standing.remaining < 1 for standing in before):
            told = zip(found, before, strict=True)
            return {}, tuple([Told(rate, stands, stands.remaining < 1) for (rate, *_), stands in told])
        counted = {name: (rate, *rate.one_more(state, at)) for rate, name, state, at in found}
        changed = {name: (stored, until) for name, (_, _, stored, until) in counted.items()}
        return changed, tuple([Told(rate, stands, False) for rate, stands, _, _ in counted.values()])

    return tuple(name for _, name in keys), work


# ── What is told ──────────────────────────────────────────────────────────────────────────────────────────────


RETRY_AFTER = b"retry-after"

TRY_AGAIN: tuple[tuple[bytes, bytes], ...] = ((RETRY_AFTER, b"1"),)
"""Of a service that has too much to do: it is over in a moment, or nobody knows when."""


class Fields(msgspec.Struct, frozen=True):
    """Headers that tell of rates: of each its name, what it carries, and what writes that of one rate."""

    names: tuple[bytes, ...] = ()
    carries: tuple[plan.Carries, ...] = ()
    writes: tuple[Callable[[Told], bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Headers:
    """`fields`: of a response that refuses its request for a rate; `usual`: of any other. `retries`: one of the former
    says when to ask again."""

    fields: Fields = Fields()
    usual: Fields = Fields()
    retries: bool = False

    def told(self, told: Sequence[Told], refused: bool) -> HeaderFields:
        """Of the rates that counted a request. `refused`: the response refuses it for one of them. One number stands
        for the rate that is the nearest to its end."""
        fields = self.fields if refused else self.usual
        if len(told) == 1:
            return tuple(zip(fields.names, map(call, fields.writes, repeat(told[0])), strict=True))
        nearest = min(told, key=_left_of)
        found: list[tuple[bytes, bytes]] = []
        for name, carries, write in zip(fields.names, fields.carries, fields.writes, strict=True):
            match carries:
                case "policies" | "standings":
                    value = b", ".join(map(write, told))
                case "limit" | "remaining" | "reset":
                    value = write(nearest)
                case "retry after":
                    value = write(max(told, key=_wait_of))
                case _:
                    assert_never(carries)
            found.append((name, value))
        return tuple(found)


def _writing(carries: plan.Carries) -> Callable[[Told], bytes]:
    match carries:
        case "policies":
            return attrgetter("rate.policy")
        case "standings":
            return _item
        case "limit":
            return lambda each: b"%d" % each.rate.allow
        case "remaining":
            return lambda each: b"%d" % each.standing.remaining
        case "reset":
            return lambda each: b"%d" % _seconds(each.standing.reset)
        case "retry after":
            return lambda each: b"%d" % _seconds(each.standing.wait)
        case _:
            assert_never(carries)


def _item(each: Told) -> bytes:
    """Of RateLimit (draft-ietf-httpapi-ratelimit-headers)."""
    standing = each.standing
    return b"%b;r=%d;t=%d" % (each.rate.named, standing.remaining, _seconds(standing.reset))


def _wait_of(told: Told) -> int:
    return told.standing.wait


def _left_of(told: Told) -> tuple[int, int]:
    return told.standing.remaining, -told.standing.wait


def headers(limits: plan.Limits) -> Headers:
    usual = [each for each in limits.headers if each.carries != "retry after"]
    return Headers(_fields(limits.headers), _fields(usual), len(usual) < len(limits.headers))


def _fields(stated: Sequence[plan.RateHeader]) -> Fields:
    names = tuple(header_value(each.name.lower()) for each in stated)
    carries = tuple(each.carries for each in stated)
    return Fields(names, carries, tuple(map(_writing, carries)))


def by_name(limits: plan.Limits) -> Mapping[str, Rate]:
    """The rates made ready. Each counts in all versions alike."""
    return {each.name: Rate(each) for each in limits.rates}


def by_endpoint(limits: plan.Limits, ready: Mapping[str, Rate]) -> Mapping[str, tuple[Rate, ...]]:
    """By the keys of the endpoints whose requests they count."""
    found: dict[str, tuple[Rate, ...]] = {}
    for each in limits.rates:
        for key in each.endpoints:
            found[key] = (*found.get(key, ()), ready[each.name])
    return found


def _policy(rate: plan.Rate, named: bytes) -> bytes:
    """An item of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers). `w` is left out where it is no whole number
    of seconds: the field cannot say it."""
    seconds, rest = divmod(rate.per_microseconds, 1_000_000)
    return b"%b;q=%d" % (named, rate.allow) + (b"" if rest else b";w=%d" % seconds)


def _string(text: str) -> bytes:
    """A String of structured fields (RFC 9651 3.3.3)."""
    return b'"%b"' % header_value(text).replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _seconds(nanoseconds: int) -> int:
    """Whole seconds after which it is certain."""
    return -(-nanoseconds // _SECOND)


_SECOND = 1_000_000_000
