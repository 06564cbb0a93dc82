"""Random rates, the headers that tell of them, and where requests come from."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from tests.agreement.maker import Maker
from tests.agreement.writing import NONE
from tests.reference.messages import Request

_ENDINGS: Final = ("Policy", "Limit", "Remaining", "Reset")
_HEADERS: Final = ("RateLimit-Policy", "RateLimit", "Retry-After", *(f"X-Rate-{each}" for each in _ENDINGS))
ADDRESSES: Final = ("192.0.2.1", "192.0.2.1", "192.0.2.7", "2001:db8::7")


def rates(maker: Maker, endpoints: dict[str, Any], errors: dict[str, Any]) -> dict[str, Any]:
    """The keys of part 8, with a code and its place in part 7 now and then."""
    throws = maker.rates
    if throws.random() < 0.8:
        return {"rates": NONE}
    served = [key for key in endpoints if " /" in key]
    numbered = [key for key in served if "least" in endpoints[key].get("query", {})]
    counted: dict[str, Any] = {}
    for name in throws.sample(["calls", "slowly", "bursts"], throws.randint(1, 2)):
        of = throws.choice(["caller", "address", "caller" if not maker.schemes else "caller.user"])
        named = throws.sample(served, min(len(served), 4)) if throws.random() < 0.3 else []
        if numbered and throws.random() < 0.2:
            of, named = "request.query.least", numbered
        counted[name] = {"of": of, "allow": throws.choice([1, 2, 3, 5, 8])}
        counted[name] |= {"per": throws.choice(["PT0.5S", "PT3S", "PT90S", "PT2H"])}
        counted[name] |= {"algorithm": throws.choice(["fixed window", "sliding window", "token bucket"])}
        if counted[name]["algorithm"] == "token bucket":
            counted[name]["burst"] = throws.choice([1, 2, 4, NONE])
        counted[name] |= {"endpoints": named} if named else {}
    if throws.random() < 0.6:
        code = {"status": throws.choice([429, 429, 503]), "title": "Slowly", "for": "too many requests"}
        errors["codes"]["slowly"] = code
    if "precedence" in errors and throws.random() < 0.5:
        errors["precedence"].insert(throws.randint(2, len(errors["precedence"])), "too many requests")
    told = throws.sample(_HEADERS, throws.randint(0, 4))
    return {"rates": counted, **({"rate headers": told} if told else {})}


def asked(random: Random, request: Request) -> Request:
    """The request, from one address or another."""
    return replace(request, address=random.choice(ADDRESSES))
