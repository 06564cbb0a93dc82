"""What follows from a write and comes back to its row: that is what all of it has made of it, wherever it is read."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

import pytest
from tests.agreement.test_found import KEYED, answers, contract, give
from tests.agreement.test_found_lately import LOG, with_events
from tests.agreement.writing import NONE
from tests.reference.messages import Request

BACK: Final[dict[str, dict[str, Any]]] = {
    "update": {"does": "update user", "where": "user.level > 3", "sets": {"level": "user.level + 1"}},
    "a transition": {"does": "retire user", "where": "user == this.owner"},
}
OPENS: Final = [{"does": "open item", "where": "item.owner == this && item.status == 'draft'"}]


def said(back: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    number, given = {"type": "integer", "on create": "serial()"}, {"body": ["level"], "responses": {200: "user"}}
    alone, patch = {"body": NONE, "responses": {200: "user"}}, {**given, "patch": "merge"}
    endpoints: dict[str, Any] = {
        "PUT /users/{id}": {"does": "put user", "body": ["level"], "responses": {"replaced": {200: "user"}}},
        "PATCH /users/{id}": {"does": "update user", **patch},
        "PATCH /users": {"does": "update all user", **patch, "responses": {200: "page.items"}},
        "POST /users/{id}/retire": {"does": "retire user", **alone},
        "POST /users/{id}/both": {"does": ["update user", "retire user"], **patch},
    }
    listed: dict[str, Any] = {
        f"GET /{each}s": {"does": f"list {each}", "sort": ["id"], "responses": {200: "page.items"}}
        for each in ("user", "item")
    }
    owner = {"references": "user", "inverse": "items", "on delete": "restrict"}
    user = {"id": number, "level": {"type": "integer"}, "status": {"state": True}}
    item = {"id": number, "owner": owner, "status": {"state": True}}
    stated = contract(
        {"user": {"fields": user, "required": ["level"], **more}, "item": {"fields": item}},
        {**{name: {**each, "also": OPENS} for name, each in endpoints.items()}, **listed, **LOG},
    )
    opens, retires = {"from": "draft", "to": "live", "also": [back]}, {"from": "on", "to": "off"}
    stated["states"] = {
        "user": {"initial": "on", "states": ["on", "off"], "transitions": {"retire": retires}},
        "item": {"initial": "draft", "states": ["draft", "live"], "transitions": {"open": opens}},
    }
    told = with_events(stated, "update user", "open item")
    told["events"]["kinds"]["user.told"] = {"upon": ["update user", "retire user"], "payload": "user"}
    return told


@pytest.mark.parametrize("more", [{}, {"check": {"that": "user.level < 8"}}], ids=["free", "held"])
@pytest.mark.parametrize("back", BACK)
def test_a_row_is_what_comes_back_to_it(back: str, more: dict[str, Any]) -> None:
    level = {"level": 7}
    requests = [
        give("PATCH", "/users/1", level),
        give("PUT", "/users/2", level),
        Request("POST", "/users/3/retire"),
        give("POST", "/users/4/both", level),
        give("PATCH", "/users", level),
        *(Request("GET", f"/{each}") for each in ("users", "items", "events")),
    ]
    rows: list[tuple[str, Any]] = [("user", {"id": n, "level": n, "status": "on"}) for n in range(1, 6)]
    rows += [("item", {"id": n, "owner": 1 + n % 5, "status": "draft"}) for n in range(1, 8)]
    told = answers(said(BACK[back], more), rows, *requests)
    assert told[0].status == (409 if more and back == "update" else 200)


@pytest.mark.parametrize("by", ["sign in", "body", "Basic", "a scheme"])
def test_who_is_known_by_what_is_normalised_is_looked_for_by_that(by: str) -> None:
    """Also where a row is from before the field was normalised: nobody finds it by that name."""
    trimmed = {"type": "string", "unique": True, "normalise": "value.trim()"}
    session = {"type": "http", "scheme": "bearer", "issued to": "user", "lasts": "PT1H", "scopes": NONE, "realm": "R"}
    desk = {"type": "http", "scheme": "basic", "realm": "D", "matches": "user.nick"}
    names, told = {"client_id": "user.nick", "client_secret": "user.key"}, {200: {"token": "caller.credential"}}
    stated = contract(
        {"user": {"fields": {"id": {"type": "string"}, "nick": trimmed, "key": KEYED, "word": {**WORD}}}},
        {
            "POST /in": {"does": "sign in user", "body": ["nick", "word"], "issues": "session", "responses": told},
            "POST /token": {"does": "sign in user", "grant": "client_credentials", "body": names, "issues": "session",
                            "responses": told},
            "GET /me": {"does": "compute", "responses": {200: {"who": "caller.user.id"}}},
        },
        schemes={"session": session, "desk": desk},
        permissions={"GET /me": "desk", "all others": "anyone"},
    )  # fmt: skip
    rows = [("user", {"id": each, "nick": nick, "key": each, "word": each}) for each, nick in KNOWN.items()]
    found = answers(stated, rows, *(asked(by, nick, each) for nick in ("ab", " ab ") for each in KNOWN))
    assert [each.status for each in found] == [401, 200] * 2


KNOWN: Final = {"before": " ab ", "after": "ab"}
WORD: Final = {"type": ["string", "null"], "secret": "password"}


def asked(by: str, nick: str, secret: str) -> Request:
    basic = "Basic " + b64encode(f"{nick}:{secret}".encode()).decode()
    grant = {"grant_type": "client_credentials"}
    match by:
        case "sign in":
            return give("POST", "/in", {"nick": nick, "word": secret})
        case "body":
            return give("POST", "/token", {**grant, "client_id": nick, "client_secret": secret})
        case "Basic":
            return give("POST", "/token", grant, authorization=basic)
        case _:
            return Request("GET", "/me", {"authorization": basic})


def test_an_effect_blames_what_sets_has_made_a_field_of() -> None:
    path = {"n": {"type": "integer"}}
    sets = {"owner": "all(user).filter(u, u.id == request.path.n).first()"}
    note = {"does": "create note", "sets": {"text": "'to ' + this.owner.name"}}
    owner = {"references": "user", "type": ["integer", "null"], "on delete": "set null"}
    stated = contract(
        {
            "user": {"fields": {"id": {"type": "integer"}, "name": {"type": "string"}}},
            "item": {"fields": {"id": {"type": "string"}, "owner": owner}},
            "note": {"fields": {"id": {"type": "integer", "on create": "serial()"}, "text": {"type": "string"}}},
        },
        {
            "POST /items/{id}/{n}": {
                "does": "update item",
                "path": path,
                "body": NONE,
                "sets": sets,
                "also": [note],
                "responses": {200: "item"},
            }
        },
    )
    rows: list[tuple[str, Any]] = [("user", {"id": 1, "name": "a"}), ("item", {"id": "x"})]
    told = answers(stated, rows, Request("POST", "/items/x/1"), Request("POST", "/items/x/9"))
    assert [each.status for each in told] == [200, 422]


def test_what_was_computed_of_a_row_is_as_it_was_whatever_follows() -> None:
    """Of the row acted on, and of one that an effect changes, to an effect and to an event."""
    number, given = {"type": "integer", "on create": "serial()"}, {"body": ["level"], "responses": {200: "user"}}
    more = {"does": "create item", "sets": {"owner": "this", "was": "before.user.count", "is": "this.count"}}
    each = {"does": "update item", "where": "item.owner == this", "sets": {"is": "item.is + before.user.count"}}
    count = {"computed": "user.items.map(i, i.is).sum()"}
    item = {"id": number, "owner": {"references": "user", "inverse": "items", "on delete": "restrict"}}
    item |= {"was": {"type": "integer"}, "is": {"type": "integer"}, "count": {"computed": "item.owner.count"}}
    stated = contract(
        {"user": {"fields": {"id": number, "level": {"type": "integer"}, "count": count}}, "item": {"fields": item}},
        {
            "PATCH /users/{id}": {"does": "update user", "patch": "merge", "also": [more, each, more], **given},
            "GET /items": {"does": "list item", "sort": ["id"], "responses": {200: "page.items"}},
            **LOG,
        },
    )
    told = with_events(stated, "update user", "update item")
    for name in ("user", "item"):
        told["events"]["kinds"][f"{name}.counts"] = {
            "upon": f"update {name}",
            "payload": {"was": f"before.{name}.count", "is": f"{name}.count"},
        }
    rows: list[tuple[str, Any]] = [("user", {"id": 1, "level": 0}), ("item", {"id": 1, "owner": 1, "was": 0, "is": 3})]
    requests = (give("PATCH", "/users/1", {"level": 1}), Request("GET", "/items"), Request("GET", "/events"))
    changed, items, _ = answers(told, rows, *requests)
    assert (changed.status, [one["was"] for one in items.body]) == (200, [0, 3, 3])


DELETES: Final[dict[str, dict[str, Any]]] = {
    "/users/{id}": {"does": "delete user", "responses": {204: NONE}},
    "/absent/{id}": {"does": "delete user", "responses": {"deleted": {204: NONE}, "absent": {204: NONE}}},
    "/users": {"does": "delete all user", "where": "user.level == 4", "responses": {204: NONE}},
}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_of_several_that_are_deleted_each_is_as_it_was_to_what_follows_of_it(database: str) -> None:
    """Once of each."""
    text, number = {"type": "string"}, {"type": "integer"}
    sets = {"of": "this.id", "a": "before.user.level", "b": "this.level"}
    log = {"primary key": "of", "fields": {"of": text, "a": number, "b": number}}
    deletes = {"does": "delete all user", "also": [{"does": "create log", "sets": sets}], "responses": {204: NONE}}
    stated = contract(
        {"user": {"fields": {"id": text, "level": number}}, "log": log},
        {"DELETE /users": deletes, "GET /logs": {"does": "list log", "sort": ["of"], "responses": {200: "page.items"}}},
    )
    rows = [("user", {"id": id, "level": level}) for id, level in (("b", 1), ("a", 2), ("c", 3))]
    _, logs = answers(stated, rows, Request("DELETE", "/users"), Request("GET", "/logs"), database=database)
    assert logs.body == [{"of": id, "a": level, "b": level} for id, level in (("a", 2), ("b", 1), ("c", 3))]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("path", DELETES)
def test_a_row_that_is_deleted_is_as_it_was_to_what_follows(path: str, database: str) -> None:
    """With its computed fields, though what they are made of has fallen with it; what else is read is as it is now."""
    fields = {"id": {"type": "string"}, "level": {"type": "integer"}, "count": {"computed": "user.parts.size()"}}
    part = {"id": {"type": "string"}, "user": {"references": "user", "inverse": "parts", "on delete": "cascade"}}
    log = {"id": {"type": "string"}} | {name: {"type": "integer"} for name in "abcde"}
    sets = {"a": "log.a + before.user.count", "b": "this.count", "c": "before.user.level", "d": "this.level"}
    also = [
        {"does": "update log", "where": "log.a < 9 && this.count == 2", "sets": {**sets, "e": "all(part).size()"}},
        {"does": "create log", "where": "before.user.count == 2", "sets": {"id": "'made'", "a": "this.count"}},
        {"does": "update user", "where": "user.id == 'other'", "sets": {"level": "user.count + this.count"}},
    ]
    stated = contract(
        {"user": {"fields": fields}, "part": {"fields": part}, "log": {"fields": log}},
        {
            f"DELETE {path}": {**DELETES[path], "also": also},
            "GET /logs": {"does": "list log", "sort": ["id"], "responses": {200: "page.items"}},
            "GET /users": {"does": "list user", "sort": ["id"], "responses": {200: "page.items"}},
        },
    )
    rows: list[tuple[str, Any]] = [("user", {"id": "one", "level": 4}), ("user", {"id": "other", "level": 0})]
    rows += [("part", {"id": str(each), "user": "other" if each == 3 else "one"}) for each in (1, 2, 3)]
    rows += [("log", {"id": "log", "a": 1})]
    asked = [Request("DELETE", path.replace("{id}", "one")), Request("GET", "/logs"), Request("GET", "/users")]
    done, logs, users = answers(stated, rows, *asked, database=database)
    assert done.status == 204
    assert logs.body[0] == {"id": "log", "a": 3, "b": 2, "c": 4, "d": 4, "e": 1}
    assert logs.body[1]["a"] == 2 and users.body == [{"id": "other", "level": 3, "count": 1}]
