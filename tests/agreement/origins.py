"""What scripts of other origins may do at a random service, and browsers that ask for them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from tests.reference.messages import Request

ORIGINS: Final = ("https://shop.example", "https://other.example:8443", "null")


def stated(random: Random) -> dict[str, Any]:
    """The key `cors`, where there is one."""
    if random.random() > 0.15:
        return {}
    found: dict[str, Any] = {
        "origins": random.choice(["all", [ORIGINS[0]], [*ORIGINS[:2]]]),
        "preflight": random.choice([200, 204, 204]),
    }
    found |= {"headers": ["Authorization", "Content-Type"]} if random.random() < 0.5 else {}
    found |= {"exposed": ["ETag"]} if random.random() < 0.5 else {}
    found |= {"credentials": random.random() < 0.5} if random.random() < 0.6 else {}
    found |= {"max age": random.choice(["PT1H", "P1D"])} if random.random() < 0.5 else {}
    return {"cors": found}


def asked(random: Random, request: Request) -> Request:
    """The request as a script sends it, or the browser that asks first whether it may."""
    if random.random() < 0.3:
        return request
    headers = {**request.headers, "origin": random.choice(ORIGINS)}
    if random.random() < 0.85:
        return replace(request, headers=headers)
    own = {"access-control-request-method": request.method}
    own = {name: text for name, text in (own | headers).items() if name in ("origin", *own) and random.random() < 0.9}
    return Request("OPTIONS", request.target, own)
