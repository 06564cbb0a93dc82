"""Orders that a request chooses, by names of their own, several at once and turned round, and sizes beyond bounds:
every choice of a few. What random contracts seldom meet, since few of their requests list anything."""

from __future__ import annotations

from itertools import permutations
from typing import Any, Final

import pytest
from tests.agreement.comparing import Disagreement
from tests.agreement.test_found import answers, contract
from tests.reference.messages import Request

from ninefold.runtime.messages import orders, parameters

FIELDS: Final = {"id": {"type": "integer"}, "a": {"type": "string"}, "n": {"type": "integer"}}
VALUES: Final = [("b", 1), ("a", None), ("b", 2), ("c", 1), ("a", 1), (None, 2), ("a", 2)]
ROWS: Final = [
    ("item", {"id": number, **({"a": a} if a else {}), **({"n": n} if n else {})})
    for number, (a, n) in enumerate(VALUES)
]
NAMES: Final = {"first": "a", "last": ["-a", "n"], "number": ["n"]}
SEVERAL: Final = ["a", "-a", "n", "-n", "-id"]
WAY: Final = {"type": "string", "enum": ["up", "down"], "default": "up", "reverses": ["down"]}
BACK: Final = {"type": "boolean", "reverses": ["true"]}
SHOWN: Final = {200: {"rows": "page.items.map(i, i.id)", "size": "page.size", "next": "page.next"}}


def said() -> dict[str, Any]:
    lists: dict[str, Any] = {"does": "list item", "responses": SHOWN}
    several = {"type": "array", "sorts": SEVERAL}
    groups = {"type": "array", "explode": False, "sorts": NAMES}
    found = contract(
        {"item": {"fields": FIELDS}},
        {
            "GET /named": {**lists, "sort": ["n"], "query": {"s": {"sorts": NAMES}, "way": WAY}},
            "GET /commas": {**lists, "sort": ["-n", "a"], "query": {"s": {**several, "explode": False}, "back": BACK}},
            "GET /repeated": {**lists, "sort": ["a"], "query": {"s": {**several, "explode": True}, "way": WAY}},
            "GET /groups": {**lists, "sort": ["-id"], "query": {"s": groups, "back": BACK}},
        },
    )
    pages = {"by": "offset", "default": 6, "minimum": 2, "maximum": 7, "clamps": True, "first": 0}
    return found | {"limits": {**found["limits"], "pages": {**pages, "size": "limit", "at": "offset"}}}


CHOSEN: Final = [each for size in (1, 2, 3) for each in permutations(SEVERAL, size)]
TARGETS: Final = [
    *(f"/named?s={name}&way={way}" for name in (*NAMES, "a", "") for way in ("up", "down", "back")),
    *(f"/named?way={way}&limit={size}" for way in ("up", "down") for size in (-1, 0, 2, 5, 7, 8, "x")),
    *(f"/commas?s={','.join(each)}&back={back}" for each in CHOSEN for back in ("true", "false")),
    *(f"/commas?s={each}" for each in ("", "a,", "a,b", "a,a", "n,-n,n")),
    *("/repeated?" + "&".join(f"s={name}" for name in each) for each in CHOSEN[:25]),
    *("/repeated?way=down&" + "&".join(f"s={name}" for name in each) for each in CHOSEN[:25]),
    *(f"/groups?s={','.join(each)}&back=true" for size in (1, 2) for each in permutations(NAMES, size)),
    *("/groups", "/groups?back=true", "/commas?back=true", "/repeated?way=down"),
]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_choice_of_orders_is_answered_alike(database: str) -> None:
    found = answers(said(), ROWS, *(Request("GET", each, {}) for each in TARGETS), database=database)
    good = [each for each in found if each.status == 200]
    assert {each.status for each in found} == {200, 422}
    assert len(good) > len(TARGETS) / 2 and len({str(each.body) for each in good}) > 20


def _first(planted: pytest.MonkeyPatch) -> None:
    together = orders._together
    planted.setattr(orders, "_together", lambda combined, names, reverses: together(combined, names[:1], reverses))


def _alone(planted: pytest.MonkeyPatch) -> None:
    together = orders._together
    planted.setattr(
        orders,
        "_together",
        lambda combined, names, reverses: together(combined, names, reverses and len(names) < 2),
    )


def _never(planted: pytest.MonkeyPatch) -> None:
    planted.setattr(orders.Orders, "called", lambda self, name, reverses=False: self._named[name])


def _beyond(planted: pytest.MonkeyPatch) -> None:
    size = parameters.PageReader._size
    planted.setattr(parameters.PageReader, "_size", lambda self, *given: size(self, *given) % self._paging.maximum)


DEFECTS: Final = {
    "of several the first is taken": _first,
    "several are not turned round": _alone,
    "a name is not turned round": _never,
    "a size is not the greatest": _beyond,
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_noticed(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    DEFECTS[defect](monkeypatch)
    with pytest.raises(Disagreement):
        answers(said(), ROWS, *(Request("GET", each, {}) for each in TARGETS))
