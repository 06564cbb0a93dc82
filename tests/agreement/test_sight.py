"""Which rows an expression reads, by the place where it stands (`Sight`): of each place a contract
is made in which it counts rows, and callers who see three, one and none of these ask. What they find is compared with
what the table says, in the service and in the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from tests.agreement.comparing import Asked, Pair, Scenario
from tests.agreement.test_found import KEYED, NOW, contract, give
from tests.agreement.versions import compiled
from tests.agreement.writing import NONE
from tests.reference.messages import Request, Response

from ninefold.language.shapes import Sight
from ninefold.language.table import sights

SIGHTS: Final = sights()
ALL: Final = 3
SEES: Final = {"high": 3, "low": 1, "nobody": 0}
"""How many items each caller sees."""

COUNT: Final = "all(item).size()"
ROWS: Final[list[tuple[str, Any]]] = [
    *(("box", {"id": str(number), "n": number}) for number in range(4)),
    ("user", {"id": "spare", "level": 0, "secret": "spare"}),
    *(
        ("user", {"id": name, "level": level, "secret": name, "spare": "spare", "home": "1"})
        for name, level in SEES.items()
    ),
    *(("item", {"id": f"item {number}", "level": level}) for number, level in enumerate((1, 2, 3))),
]
ASKS_FOR: Final = {"query": {"n": {"type": "integer"}}}

Ask = Callable[..., Response]


@dataclass(frozen=True)
class Place:
    """A contract in which the expression stands there, and how what it counts is found by asking."""

    found: Callable[[Ask], Any]
    endpoints: Mapping[str, Any]
    box: Mapping[str, Any] = field(default_factory=dict)
    resource: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    thing: Mapping[str, Any] = field(default_factory=dict)
    authentication: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> list[tuple[str, Any]]:
        """Boxes that are there have 0 where one that is made would be given a value."""
        given = {name: 0 for name, said in self.box.items() if said.keys() & {"on create", "on change"}}
        return [(name, {**given, **row} if name == "box" else row) for name, row in ROWS]

    def contract(self) -> dict[str, Any]:
        box = {"id": {"type": "string"}, "n": {"type": "integer"}, "user": {"references": "user"}, **self.box}
        said = contract(
            {
                "user": {
                    "fields": {
                        "id": {"type": "string"},
                        "level": {"type": "integer"},
                        "spare": {"references": "user"},
                        "home": {"references": "box"},
                        "secret": KEYED,
                    },
                    "required": ["level"],
                },
                "item": {"fields": {"id": {"type": "string"}, "level": {"type": "integer"}}, "required": ["level"]},
                "box": {"fields": box, **self.resource},
                "thing": {"fields": {"id": {"type": "string"}, **self.thing}},
            },
            self.endpoints,
            **{
                "schemes": {"key": {"type": "http", "scheme": "bearer", "matches": "user.secret"}},
                "rows": {
                    "user": {"key": True},
                    "box": {"key": True},
                    "thing": {"key": True},
                    "item": {"key": "item.level <= caller.user.level"},
                },
                "unseen rows": "not found",
                "permissions": {"all others": "key"},
                **self.authentication,
            },
        )
        return {**said, **self.parts}


@contextmanager
def asking(place: Place, caller: str) -> Iterator[Ask]:
    said = place.contract()
    loaded = compiled(said)
    assert loaded.checked is not None and loaded.plan is not None, [each.message for each in loaded.diagnostics]
    assert not [each for each in loaded.open_questions if each.blocks], loaded.open_questions

    def request(method: str, target: str, body: Any) -> Request:
        headers = {"authorization": f"Bearer {caller}"}
        return Request(method, target, headers) if body is None else give(method, target, body, **headers)

    with Pair(loaded.checked, loaded.plan, Scenario(said, tuple(place.rows()))) as pair:
        yield lambda method, target, body=None: pair.tell(Asked(NOW, request(method, target, body)))


def answered(ask: Ask, *request: Any) -> Any:
    response = ask(*request)
    assert response.status < 300, (request, response)
    return response.body


def the_one(holds: Callable[[int], bool]) -> int:
    """The number for which a condition holds."""
    [found] = [number for number in range(4) if holds(number)]
    return found


def made(member: str = "n") -> Callable[[Ask], Any]:
    """What a new box has."""
    return lambda ask: answered(ask, "POST", "/boxes", {"id": "new"})[member]


def changed(ask: Ask) -> Any:
    return answered(ask, "PATCH", "/boxes/1", {"user": "low"})["n"]


def succeeds(method: str, target: str, body: Any = None) -> Callable[[Ask], Any]:
    """Which `n` a request is not refused with."""
    return lambda ask: the_one(lambda n: ask(method, f"{target}?n={n}", body).status < 300)


def shown(member: str = "n", target: str = "/boxes/1") -> Callable[[Ask], Any]:
    return lambda ask: answered(ask, "GET", target)[member]


def lists(ask: Ask) -> int:
    return the_one(lambda n: bool(answered(ask, "GET", f"/boxes?n={n}")))


MAKES: Final = {"does": "create box", "body": ["id"], "responses": {201: "box"}}
PATCH: Final = {"does": "update box", "body": ["user"], "patch": "merge", "responses": {200: "box"}}
READ: Final = {"does": "read box", "responses": {200: "box"}}
LIST: Final = {"does": "list box", "sort": ["id"], "responses": {200: "page.items"}}
BOXED: Final = f"request.query.n == {COUNT}"


def machine(**transition: Any) -> dict[str, Any]:
    transitions = {"open": {"from": "shut", "to": "ajar", **transition}}
    states = {
        "initial": "shut",
        "states": ["shut", "ajar"],
        "gone": NONE,
        "transitions": transitions,
    }
    return {"states": {"thing": states, **dict.fromkeys(("user", "item", "box"), NONE)}}


OPEN: Final = {"does": "open thing", "body": NONE, "responses": {200: "thing"}}


def opens(**transition: Any) -> dict[str, Any]:
    """A place in a transition, which things can take that are made."""
    states = {"state": {"state": True}, "n": {"type": "integer"}}
    return {
        "endpoints": {
            "POST /things": {"does": "create thing", "body": ["id", "n"], "responses": {201: "thing"}},
            "POST /things/{id}/open": OPEN,
            "GET /boxes": LIST,
        },
        "thing": states,
        "parts": machine(**transition),
    }


def opened(ask: Ask, n: int = 0) -> Response:
    answered(ask, "POST", "/things", {"id": f"new{n}", "n": n})
    return ask("POST", f"/things/new{n}/open")


def opens_one(ask: Ask) -> None:
    response = opened(ask)
    assert response.status == 200, response


def created(ask: Ask) -> None:
    answered(ask, "POST", "/boxes", {"id": "new"})


def of_endpoint(part: Mapping[str, Any]) -> dict[str, Any]:
    """An effect of an endpoint."""
    return {"endpoints": {"POST /boxes": {**MAKES, "also": [part]}, "GET /boxes": LIST}}


def of_transition(part: Mapping[str, Any]) -> dict[str, Any]:
    return {**opens(also=[part])}


def nines(do: Callable[[Ask], Any], found: Callable[[list[Any]], int]) -> Callable[[Ask], int]:
    """What is made of the boxes that have 9 since an effect."""

    def asked(ask: Ask) -> int:
        do(ask)
        return found([each for each in answered(ask, "GET", "/boxes") if each.get("n") == 9])

    return asked


def one_box(boxes: list[Any]) -> int:
    [box] = boxes
    return int(box["id"])


EFFECTS: Final[Mapping[str, tuple[Mapping[str, Any], Callable[[list[Any]], int]]]] = {
    "where": ({"does": "update box", "where": f"has(box.n) && box.n == {COUNT}", "sets": {"n": "9"}}, one_box),
    "sets.FIELD": (
        {"does": "create box", "sets": {"id": f"'1' + string({COUNT})", "n": "9"}},
        lambda boxes: one_box(boxes) - 10,
    ),
}


def promoted(do: Callable[[Ask], Any]) -> Callable[[Ask], Any]:
    """Whether an effect has found the user as a user who sees all."""

    def asked(ask: Ask) -> int | None:
        do(ask)
        return ALL if answered(ask, "GET", "/users/spare")["level"] == 9 else None

    return asked


PROMOTES: Final = {
    "does": "update user",
    "where": f"user == ({COUNT} == {ALL} ? caller.user.spare : null)",
    "sets": {"level": "9"},
}
USERS: Final = {"GET /users/{id}": {"does": "read user", "responses": {200: {"level": "user.level"}}}}


def version(change: Mapping[str, Any]) -> dict[str, Any]:
    """The versioning of a contract whose older version differs by one change."""
    stated = {
        "in": "header",
        "name": "Api-Version",
        "default": "one",
        "versions": {"two": {}, "one": {"changes": [change]}},
        "compatible": ["deprecate"],
    }
    return {"parts": {"versioning": stated}}


def events(kind: Mapping[str, Any]) -> dict[str, Any]:
    """A place in a kind of event, which arises when a box is created, and a log that is read."""
    logged = {
        "does": "list event",
        "sort": ["position"],
        "responses": {200: "page.items.map(e, e.payload)"},
    }
    return {
        "endpoints": {"POST /boxes": MAKES, "GET /events": logged},
        "parts": {"events": {"kinds": {"box.made": {"upon": "create box", **kind}}, "kept": "all", "delivery": NONE}},
        "authentication": {
            "rows": {
                **{each: {"key": True} for each in ("user", "box", "thing", "event")},
                "item": {"key": "item.level <= caller.user.level"},
            }
        },
    }


def told(ask: Ask) -> list[Any]:
    created(ask)
    events: list[Any] = answered(ask, "GET", "/events")
    return events


PLACES: Final[Mapping[tuple[Any, ...], Place]] = {
    (2, "RESOURCE.fields.FIELD.computed"): Place(
        shown("count"), {"GET /boxes/{id}": READ}, {"count": {"type": "integer", "computed": COUNT}}
    ),
    (2, "RESOURCE.fields.FIELD.on create"): Place(
        made("m"), {"POST /boxes": MAKES}, {"m": {"type": "integer", "on create": COUNT}}
    ),
    (2, "RESOURCE.fields.FIELD.on change"): Place(
        lambda ask: answered(ask, "PATCH", "/boxes/1", {"user": "low"})["m"],
        {"PATCH /boxes/{id}": PATCH},
        {"m": {"type": "integer", "on change": COUNT}},
    ),
    (2, "RESOURCE.check.that"): Place(
        lambda ask: the_one(lambda n: ask("POST", "/boxes", {"id": f"new {n}", "m": n}).status == 201),
        {"POST /boxes": {**MAKES, "body": ["id", "m"]}},
        {"m": {"type": "integer"}},
        {"check": {"that": f"!has(box.m) || box.m == {COUNT}"}},
    ),
    (3, "RESOURCE.transitions.TRANSITION.check.that"): Place(
        lambda ask: the_one(lambda n: opened(ask, n).status < 300), **opens(check={"that": f"thing.n == {COUNT}"})
    ),
    (3, "RESOURCE.transitions.TRANSITION.sets.FIELD"): Place(
        lambda ask: opened(ask).body["n"], **opens(sets={"n": COUNT})
    ),
    (3, "RESOURCE.transitions.TRANSITION.also.EFFECT.where", "one row"): Place(
        promoted(opens_one),
        **{**of_transition(PROMOTES), "endpoints": {**opens()["endpoints"], **USERS}},
    ),
    (4, "ENDPOINT.also.EFFECT.where", "one row"): Place(
        promoted(created), {"POST /boxes": {**MAKES, "also": [PROMOTES]}, **USERS}
    ),
    **{
        (3, f"RESOURCE.transitions.TRANSITION.also.EFFECT.{key}"): Place(nines(opens_one, found), **of_transition(part))
        for key, (part, found) in EFFECTS.items()
    },
    (4, "ENDPOINT.check.that"): Place(
        succeeds("GET", "/boxes/1"), {"GET /boxes/{id}": {**READ, **ASKS_FOR, "check": {"that": BOXED}}}
    ),
    (4, "ENDPOINT.sets.FIELD"): Place(changed, {"PATCH /boxes/{id}": {**PATCH, "sets": {"n": COUNT}}}),
    **{
        (4, f"ENDPOINT.also.EFFECT.{key}"): Place(nines(created, found), **of_endpoint(part))
        for key, (part, found) in EFFECTS.items()
    },
    (5, "permissions.ENDPOINT.CALLER"): Place(
        succeeds("GET", "/boxes/1"),
        {"GET /boxes/{id}": {**READ, **ASKS_FOR}},
        authentication={"permissions": {"GET /boxes/{id}": {"key": f"box.id != '' && {BOXED}"}}},
    ),
    (5, "rows.RESOURCE.CALLER"): Place(
        lambda ask: int(answered(ask, "GET", "/boxes")[0]["id"]),
        {"GET /boxes": LIST},
        authentication={
            "rows": {
                "user": {"key": True},
                "item": {"key": "item.level <= caller.user.level"},
                "box": {"key": f"box.n == {COUNT}"},
            }
        },
    ),
    (5, "schemes.SCHEME.granted"): Place(
        lambda ask: ALL if answered(ask, "POST", "/tokens")["scopes"] == ["all"] else None,
        {
            "POST /tokens": {
                "does": "update user",
                "where": "user == caller.user",
                "body": NONE,
                "issues": "token",
                "sets": {"level": "0"},
                "responses": {200: {"scopes": "granted.scopes"}},
            }
        },
        authentication={
            "schemes": {
                "key": {"type": "http", "scheme": "bearer", "matches": "user.secret"},
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Token",
                    "issued to": "user",
                    "lasts": NONE,
                    "scopes": ["all"],
                    "granted": f"{COUNT} == {ALL} ? ['all'] : []",
                },
            }
        },
    ),
    (6, "kinds.KIND.payload"): Place(lambda ask: told(ask)[0]["n"], **events({"payload": {"n": COUNT}})),
    (6, "kinds.KIND.where"): Place(
        lambda ask: ALL if told(ask) else None, **events({"where": f"{COUNT} == {ALL}", "payload": {"n": "0"}})
    ),
    (9, "versions.VERSION.changes.CHANGE.is"): Place(
        shown("older"),
        {"GET /boxes/{id}": READ},
        **version({"add": "box.older", "was": {"type": "integer"}, "is": COUNT}),
    ),
    (9, "versions.VERSION.changes.CHANGE.on create"): Place(
        made("m"),
        {"POST /boxes": MAKES},
        {"m": {"type": "integer", "on create": "8"}},
        **version({"change": "box.m", "on create": COUNT}),
    ),
    (9, "versions.VERSION.changes.CHANGE.was"): Place(
        shown(),
        {"GET /boxes/{id}": {**READ, "responses": {200: "seen(box)"}}},
        resource={"views": {"seen": {"n": "7"}}},
        **version({"change": "box.views.seen", "was": {"n": COUNT}}),
    ),
    (2, "RESOURCE.views.VIEW"): Place(
        shown(),
        {"GET /boxes/{id}": {**READ, "responses": {200: "seen(box)"}}},
        resource={"views": {"seen": {"n": COUNT}}},
    ),
    (2, "terms.TERM"): Place(shown(), {"GET /boxes/{id}": {**READ, "responses": {200: {"n": COUNT}}}}),
    (4, "ENDPOINT.responses.STATUS"): Place(shown(), {"GET /boxes/{id}": {**READ, "responses": {200: {"n": COUNT}}}}),
    (4, "ENDPOINT.responses.OUTCOME.STATUS"): Place(
        lambda ask: answered(ask, "PUT", "/boxes/new")["n"],
        {
            "PUT /boxes/{id}": {
                "does": "put box",
                "body": NONE,
                "responses": {"created": {201: {"n": COUNT}}, "unchanged": {200: {"n": COUNT}}},
            }
        },
    ),
    (4, "ENDPOINT.headers.HEADER"): Place(
        lambda ask: int(ask("GET", "/boxes/1").headers["x-count"]),
        {"GET /boxes/{id}": {**READ, "headers": {"X-Count": f"string({COUNT})"}}},
    ),
    (4, "ENDPOINT.query.PARAMETER.expands.NAME"): Place(
        lambda ask: answered(ask, "GET", "/boxes/1?include=count")["count"]["n"],
        {
            "GET /boxes/{id}": {
                **READ,
                "query": {"include": {"expands": {"count": {"n": COUNT}}, "explode": True}},
            }
        },
    ),
    (4, "ENDPOINT.where"): Place(lists, {"GET /boxes": {**LIST, **ASKS_FOR, "where": BOXED}}),
    (4, "ENDPOINT.where", "one row"): Place(
        succeeds("GET", "/box"),
        {"GET /box": {**READ, **ASKS_FOR, "where": f"box == ({BOXED} ? caller.user.home : null)"}},
    ),
    (4, "ENDPOINT.query.PARAMETER"): Place(lists, {"GET /boxes": {**LIST, "query": {"n": f"value == {COUNT}"}}}),
    (4, "ENDPOINT.query.PARAMETER.where"): Place(
        lists, {"GET /boxes": {**LIST, "query": {"n": {"type": "integer", "where": f"value == {COUNT}"}}}}
    ),
    (7, "codes.CODE.detail"): Place(
        lambda ask: int(ask("GET", "/boxes/1").body["detail"]),
        {"GET /boxes/{id}": {**READ, "check": {"that": "box.id == 'no'", "else": "no"}}},
        parts={
            "errors": {
                "codes": {"no": {"status": 409, "detail": f"box.id == '' ? '' : string({COUNT})"}},
                "error shape": {"media type": "application/json", "body": {"detail": "error.detail"}},
            }
        },
    ),
    (7, "codes.CODE.headers.HEADER"): Place(
        lambda ask: int(ask("GET", "/boxes/1").headers["x-told"]),
        {"GET /boxes/{id}": {**READ, "check": {"that": "box.id == 'no'", "else": "no"}}},
        parts={
            "errors": {"codes": {"no": {"status": 409, "headers": {"X-Told": f"box.id == '' ? '' : string({COUNT})"}}}}
        },
    ),
}


WITHOUT_CALLER: Final = {
    (2, "RESOURCE.expires"),
    (3, "RESOURCE.transitions.TRANSITION.after"),
    (6, "delivery.webhooks.where"),
    (6, "delivery.webhooks.url"),
    (6, "delivery.webhooks.headers.HEADER"),
    (6, "delivery.webhooks.secret"),
}
"""What is evaluated when nobody asks."""


def test_every_place_that_reads_rows_is_asked() -> None:
    reading = {place for place, sight in SIGHTS.items() if sight is not Sight.NONE} - WITHOUT_CALLER
    assert reading - {place[:2] for place in PLACES} == set()


@pytest.mark.parametrize("caller", SEES)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: " of ".join(place[1:]))
def test_a_place_reads_what_the_table_says(place: tuple[Any, ...], caller: str) -> None:
    sight = SIGHTS[place[0], place[1]]
    with asking(PLACES[place], caller) as ask:
        assert PLACES[place].found(ask) == (ALL if sight is Sight.ALL else SEES[caller])


def refusing(count: str) -> Mapping[tuple[int, str], Place]:
    """Contracts in which an expression stands where no row is read."""
    key = {"type": "http", "scheme": "bearer", "matches": "user.secret"}
    signed = {
        "type": "http", "scheme": "bearer", "issuer": "operator.issuer", "keys": "operator.keys",
        "audience": "boxes", "algorithms": ["RS256"], "caller": {"n": count},
    }  # fmt: skip
    certificate = {"type": "mutualTLS", "matches": "user.id", "credential": f"string({count})"}
    rate = {"of": count, "allow": 2, "per": "PT1H", "algorithm": "fixed window", "endpoints": ["GET /boxes/{id}"]}
    limits = {"timeout": NONE, "body size": NONE, "pages": NONE}
    shape = {"media type": "application/json", "body": {"n": count}}
    codes = {"no": {"status": 404, "for": "not found"}}
    read = {"GET /boxes/{id}": READ}
    functions = {"f": {"takes": {"n": {"type": "integer"}}, "gives": {"type": "integer"}}}
    change = {"change": "box.n", "is": "box.n", "stored": count}
    pinned = {
        "in": "header",
        "name": "Api-Version",
        "default": f"has(caller.user) && {count} == 3 ? 'v3' : 'v3'",
        "versions": {"v3": {}},
        "compatible": ["deprecate"],
    }

    def place(endpoints: Mapping[str, Any], **said: Any) -> Place:
        return Place(lambda ask: None, endpoints, **said)

    return {
        (2, "RESOURCE.fields.FIELD.normalise"): place(read, box={"m": {"type": "integer", "normalise": count}}),
        (3, "RESOURCE.transitions.TRANSITION.also.EFFECT.each"): place(
            **opens(also=[{"does": "create box", "each": f"[{count}]", "sets": {"id": "string(each)"}}])
        ),
        (4, "ENDPOINT.also.EFFECT.each"): place(
            {
                "POST /boxes": {
                    **MAKES,
                    "also": [{"does": "create box", "each": f"[{count}]", "sets": {"id": "string(each)"}}],
                }
            }
        ),
        (4, "ENDPOINT.cases.by"): place(
            {
                "POST /boxes": {
                    "does": "create box",
                    "cases": {"by": f"string({count})", "3": {"body": ["id"], "responses": {201: "box"}}},
                }
            }
        ),
        (4, "ENDPOINT.error shape.body"): place(
            {"GET /boxes/{id}": {**READ, "error shape": shape}},
            parts={"errors": {"codes": codes, "error shape": {**shape, "body": {"code": "error.code"}}}},
        ),
        (4, "ENDPOINT.with.NAME"): place(
            {
                "functions": functions,
                "PUT /boxes/{id}": {
                    "does": ["call f", "update box"],
                    "body": ["user"],
                    "patch": "merge",
                    "with": {"n": count},
                    "responses": {200: "box"},
                },
            }
        ),
        (5, "schemes.SCHEME.caller.NAME"): place(read, authentication={"schemes": {"key": key, "signed": signed}}),
        (5, "schemes.SCHEME.credential"): place(
            read, authentication={"schemes": {"key": key, "certificate": certificate}}
        ),
        (6, "delivery.envelope.source"): place(
            {"POST /boxes": MAKES, "GET /stream": {"does": "stream event", "responses": {200: "stream"}}},
            parts={
                "events": {
                    "kinds": {"box.made": {"upon": "create box", "payload": {"n": "1"}}},
                    "delivery": {
                        "envelope": {"format": "cloudevents 1.0", "source": f"string({count})"},
                        "stream": "server-sent events",
                        "webhooks": NONE,
                    },
                    "kept": "P1D",
                }
            },
        ),
        (7, "error shape.body"): place(read, parts={"errors": {"codes": codes, "error shape": shape}}),
        (8, "rates.RATE.of"): place(read, parts={"limits": {**limits, "rates": {"r": rate}}}),
        (9, "default"): place(read, parts={"versioning": pinned}),
        (9, "versions.VERSION.changes.CHANGE.stored"): place(
            {"PATCH /boxes/{id}": PATCH, **read},
            parts={"versioning": {**pinned, "default": "v3", "versions": {"v3": {}, "v2": {"changes": [change]}}}},
        ),
    }


WITHOUT_ROWS: Final = {place for place, sight in SIGHTS.items() if sight is Sight.NONE}
OPERATORS: Final = {(5, f"schemes.SCHEME.{key}") for key in ("issuer", "keys")}
"""What `operator.NAME` alone says."""
NO_EXPRESSION: Final = {(4, "ENDPOINT.body")}
"""A template read backwards: its leaves are fields."""


def test_every_place_that_reads_no_rows_is_known() -> None:
    assert refusing("3").keys() == WITHOUT_ROWS - OPERATORS - NO_EXPRESSION


@pytest.mark.parametrize("place", refusing("3"), ids=lambda place: " of ".join(place[1:]))
def test_where_no_rows_are_read_an_expression_that_reads_them_is_an_error(place: tuple[int, str]) -> None:
    one, other = (compiled(refusing(count)[place].contract()) for count in ("3", COUNT))
    assert one.plan is not None, [each.message for each in one.diagnostics]
    assert other.plan is None
