"""Rates (part 8): which requests they count, by whom, and what callers are told. What is kept are the times of the
requests that were counted, of each rate and key; how a key stands is worked out of all of them, every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil, floor
from typing import Any

from tests.reference.asking import Asking
from tests.reference.expressions import moment
from tests.reference.failures import Failure
from tests.reference.shows import plain

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.service import Rate

MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Standing:
    """How a key stands. `wait`: microseconds until a request would be taken; `reset`: until it is as if there had been
    none."""

    rate: Rate
    remaining: int
    wait: Fraction
    reset: Fraction


def count(asking: Asking, endpoint: Endpoint) -> None:
    """Count a request by all of the rates of its endpoint, or by none where one of them refuses it."""
    rates = [each for each in asking.checked.limits.rates if each.endpoints is None or endpoint.key in each.endpoints]
    keys = [(each, key) for each in rates if (key := _key(asking, each)) is not None]
    now = (moment(asking.now) - datetime.min) // MICROSECOND
    asking.rates = [_standing(rate, asking.of.counted.get((rate.name, key), []), now) for rate, key in keys]
    if any(each.remaining == 0 for each in asking.rates):
        asking.failures.append(Failure("too many requests"))
        return
    for rate, key in keys:
        asking.of.counted.setdefault((rate.name, key), []).append(now)
    asking.rates = [_standing(rate, asking.of.counted[rate.name, key], now) for rate, key in keys]


def _key(asking: Asking, rate: Rate) -> str | None:
    """None: an expression has no value for this request."""
    caller = asking.stranger or asking.caller
    if rate.of == "address" or (rate.of == "caller" and caller.row is None):
        return asking.request.address
    if rate.of == "caller":
        assert caller.row is not None
        return repr((caller.who, caller.row.resource.name, caller.row.key))
    assert not isinstance(rate.of, str)
    value = asking.all().also(caller=caller.names).value_or_none(rate.of)
    return None if value is None else repr(plain(value))


def _standing(rate: Rate, times: Sequence[int], now: int) -> Standing:
    match rate.algorithm:
        case "fixed window":
            return _fixed(rate, times, now)
        case "sliding window":
            times = [each for each in times if now - each < rate.per]
            remaining = rate.allow - len(times)
            wait = 0 if remaining else times[0] + rate.per - now
            return Standing(rate, remaining, Fraction(wait), Fraction(times[-1] + rate.per - now if times else 0))
        case _:
            return _bucket(rate, times, now)


def _fixed(rate: Rate, times: Sequence[int], now: int) -> Standing:
    began, counted = None, 0
    for each in times:
        if began is None or each - began >= rate.per:
            began, counted = each, 0
        counted += 1
    if began is None or now - began >= rate.per:
        return Standing(rate, rate.allow, Fraction(0), Fraction(0))
    left = Fraction(began + rate.per - now)
    return Standing(rate, rate.allow - counted, left if counted == rate.allow else Fraction(0), left)


def _bucket(rate: Rate, times: Sequence[int], now: int) -> Standing:
    assert rate.burst is not None
    full = level = Fraction(rate.burst)
    each, before = Fraction(rate.per, rate.allow), times[0] if times else now
    for time in times:
        level = min(full, level + (time - before) / each) - 1
        before = time
    level = min(full, level + (now - before) / each)
    return Standing(rate, floor(level), max(Fraction(0), (1 - level) * each), (full - level) * each)


# ── What is told ──────────────────────────────────────────────────────────────────────────────────────────────


def told(asking: Asking) -> dict[str, str]:
    """Meaning "rate headers"."""
    standings = asking.rates
    if not standings:
        return {}
    nearest = min(standings, key=lambda each: (each.remaining, -each.wait))
    values: dict[str, Any] = {
        "policies": ", ".join(_policy(each.rate) for each in standings),
        "standings": ", ".join(f'"{each.rate.name}";r={each.remaining};t={_seconds(each.reset)}' for each in standings),
        "limit": nearest.rate.allow,
        "remaining": nearest.remaining,
        "reset": _seconds(nearest.reset),
        "retry after": _seconds(max(each.wait for each in standings)) if asking.is_limited else None,
    }
    named = {name.lower(): values[carries] for name, carries in asking.checked.limits.headers}
    return {name: str(value) for name, value in named.items() if value is not None}


def _policy(rate: Rate) -> str:
    """`w` is a whole number of seconds, or nothing."""
    seconds = Fraction(rate.per, 1_000_000)
    return f'"{rate.name}";q={rate.allow}' + (f";w={seconds}" if seconds.denominator == 1 else "")


def _seconds(microseconds: Fraction) -> int:
    return ceil(microseconds / 1_000_000)
