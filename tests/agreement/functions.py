"""A function of the operator's that random contracts call, as the service and as the interpreter have it; and endpoints
that call it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from random import Random
from typing import Any, Final

from tests.agreement.conditions import Made
from tests.agreement.writing import NONE
from tests.reference.calls import Refuses

from ninefold.runtime.operations.call import Refused

STATED: Final = {
    "weigh": {
        "takes": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
        "gives": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "refuses": ["too_heavy"],
    }
}
CALLS: Final = ("call weigh",)
CODE: Final = {"too_heavy": {"status": 409, "title": "It is too heavy"}}


def _weighed(n: int, refusal: Exception) -> Any:
    """It gives, refuses, gives what is not stated, or fails."""
    if n == 3:
        raise refusal
    if n == 4:
        raise ZeroDivisionError
    return {"n": "heavy"} if n == 7 else {"n": n * 7}


SERVED: Final[dict[str, Any]] = {"weigh": lambda n: _weighed(n, Refused("too_heavy")), "f": lambda n: n}
KNOWN: Final[dict[str, Any]] = {"weigh": lambda n: _weighed(n, Refuses("too_heavy")), "f": lambda n: n}


def by_calls(random: Random, endpoints: dict[str, Any], made: Mapping[str, Made]) -> bool:
    """Whether endpoints that call were made: one of its own, and some that do what others do once it was called."""
    if random.random() < 0.6:
        return False
    found: dict[str, Any] = {
        "POST /weigh": {
            "does": "call weigh",
            "query": {"n": {"type": "integer"}},
            "body": NONE,
            "with": {"n": random.choice(["request.query.n", "request.query.n + 1"])},
            "responses": {200: {"weight": "result.weigh.n"}},
        }
    }
    for key, said in endpoints.items():
        is_write = " /" in key and key.split(" ")[0] in ("POST", "PATCH", "DELETE") and "does" in said
        is_none = not is_write or "etag" in said or "all " in str(said["does"]) or "sign" in str(said["does"])
        if is_none or random.random() < 0.6:
            continue
        does = said["does"] if isinstance(said["does"], list) else [said["does"]]
        name = does[0].partition(" ")[2]
        body = said.get("body") if isinstance(said.get("body"), list) else []
        numbers = [each for each in body if made[name].kinds[each].type == "integer"]
        given = f"request.body.{random.choice(numbers)}" if numbers and random.random() < 0.5 else "request.query.n"
        own = {"does": ["call weigh", *does], "with": {"n": given}}
        if given == "request.query.n":
            own["query"] = {"n": {"type": "integer"}}
        status = next(iter(said["responses"]))
        if said["responses"][status] is not NONE and not isinstance(status, str):
            own["responses"] = {status: {"it": f"{name}.{made[name].primary_key[0]}", "weight": "result.weigh.n"}}
        found[f"{key}/weighed"] = {**copy.deepcopy(said), **own}
    endpoints |= {"functions": STATED, **found}
    return True
