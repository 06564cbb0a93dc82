"""A value that the contract gives a reference names a row that is not there: whichever way it takes into the field, it
is a `conflict`, and nothing of the whole is done. Both answer so, and nobody looks for the reason in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from tests.agreement.comparing import Asked, Pair, Scenario
from tests.agreement.test_found import KEYED, NOW, answers, contract, give
from tests.agreement.versions import compiled
from tests.agreement.writing import NONE
from tests.reference.messages import Request

TEXT: Final = {"type": "string"}
REFERS: Final = {"references": "user", "on delete": "set null"}

EFFECTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "create": {"does": "create part", "sets": {"id": "'new'"}},
    "create each": {"does": "create part", "each": "['new', 'newer']", "sets": {"id": "each"}},
    "update one": {"does": "update part", "where": "part.id == 'old'"},
    "update several": {"does": "update part", "where": "part.n == 1"},
    "put, there": {"does": "put part", "sets": {"id": "'old'"}},
    "put, not there": {"does": "put part", "sets": {"id": "'new'"}},
    "put each": {"does": "put part", "each": "['old', 'new']", "sets": {"id": "each"}},
    "transition of one": {"does": "finish part", "where": "part.id == 'old'"},
    "transition of several": {"does": "finish part", "where": "part.n == 1"},
}
VALUES: Final = {
    "the row that is deleted": "this",
    "who is deleted": "caller.user",
    "by key": "caller.user.id",
    "by rows": "all(part).exists(p, p.n == 1) ? this : null",
}
MADE: Final = ("create", "put, not there", "create each")


def status(effect: Mapping[str, Any], field: Mapping[str, Any], moves: Mapping[str, str] | None = None) -> int:
    """Of the deletion of a user, with this effect; and that every part is as it was, where it is refused."""
    part = {"id": TEXT, "n": {"type": "integer"}, "status": {"state": True}, "by": {**REFERS, **field}}
    finish: dict[str, Any] = {"from": ["draft", "done"], "to": "done"}
    said = contract(
        {"user": {"fields": {"id": TEXT, "key": KEYED}}, "part": {"fields": part}},
        {
            "DELETE /users/{id}": {"does": "delete user", "responses": {200: {}}, "also": [dict(effect)]},
            "POST /parts/{id}": {"does": "finish part", "responses": {200: "part"}},
            "GET /parts": {"does": "list part", "sort": ["id"], "responses": {200: "page.items"}},
        },
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        permissions={"all others": "key"},
    )
    transitions = {"finish": finish | ({"sets": dict(moves)} if moves else {})}
    said["states"] = {
        "user": NONE,
        "part": {"initial": "draft", "states": ["draft", "done"], "transitions": transitions},
    }
    old = ("part", {"id": "old", "by": "ann", "n": 1, "status": "draft"})
    rows = (("user", {"id": "ann", "key": "s"}), ("user", {"id": "bob", "key": "t"}), old)
    loaded = compiled(said)
    assert loaded.checked is not None and loaded.plan is not None, [each.message for each in loaded.diagnostics]
    with Pair(loaded.checked, loaded.plan, Scenario(said, rows)) as pair:
        headers = {"authorization": "Bearer s"}
        done = pair.tell(Asked(NOW, Request("DELETE", "/users/ann", headers)))
        parts = pair.tell(Asked(NOW, Request("GET", "/parts", {"authorization": "Bearer t"})))
        assert done.status == 200 or parts.body == [old[1]]
    return done.status


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("effect", EFFECTS)
def test_what_sets_gives_is_there(effect: str, value: str) -> None:
    told = EFFECTS[effect]
    assert status({**told, "sets": {**told.get("sets", {}), "by": VALUES[value]}}, {}) == 409


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_is_given_on_change_is_there(effect: str) -> None:
    told = EFFECTS[effect]
    told = {**told, "sets": {**told.get("sets", {}), "n": "2"}}
    assert status(told, {"on change": "caller.user"}) == 409
    assert status(told, {"on change": {"n": "caller.user"}}) == 409


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_is_given_on_create_is_there_where_a_row_is_made(effect: str) -> None:
    makes = effect in (*MADE, "put each")
    assert status(EFFECTS[effect], {"on create": "caller.user"}) == (409 if makes else 200)


@pytest.mark.parametrize("effect", ["transition of one", "transition of several"])
def test_what_a_transition_gives_is_there(effect: str) -> None:
    assert status(EFFECTS[effect], {}, {"by": "caller.user"}) == 409


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_is_not_changed_or_has_no_value_is_no_conflict(effect: str) -> None:
    told = EFFECTS[effect]
    assert status({**told, "sets": {**told.get("sets", {}), "by": "null"}}, {}) == 200
    if effect not in (*MADE, "put each"):
        assert status({**told, "sets": {**told.get("sets", {}), "n": "1"}}, {"on change": {"n": "caller.user"}}) == 200


@pytest.mark.parametrize("each", [{}, {"each": "['x', 'y']"}], ids=["one", "each"])
def test_a_row_is_known_by_a_reference_that_is_given_as_a_row_or_by_its_key(each: Mapping[str, str]) -> None:
    part = {"by": REFERS, "n": {"type": "integer"}, "id": {"type": "integer", "on create": "serial()"}, "text": TEXT}
    told = []
    for value in ("this", "this.id"):
        sets = {"by": value, "text": "each" if each else "'x'", "n": "this.n"}
        said = contract(
            {
                "user": {"fields": {"id": TEXT, "n": {"type": "integer"}}},
                "part": {"fields": part, "unique": [["by", "text"]]},
            },
            {
                "PATCH /users/{id}": {
                    "does": "update user",
                    "body": ["n"],
                    "patch": "merge",
                    "responses": {200: "user"},
                    "also": [{"does": "put part", "sets": sets, **each}],
                },
                "GET /parts": {
                    "does": "list part",
                    "sort": ["text"],
                    "responses": {200: "page.items.map(p, [p.by.id, p.text, p.n])"},
                },
            },
        )
        requests = (give("PATCH", "/users/ann", {"n": n}) for n in (1, 2, 2))
        found = answers(said, [("user", {"id": "ann", "n": 0})], *requests, Request("GET", "/parts", {}))
        assert [each.status for each in found] == [200] * 4
        told.append(found[-1].body)
    assert told[0] == told[1] == [["ann", text, 2] for text in ("xy" if each else "x")]


@pytest.mark.parametrize("outcomes", [["created"], ["created", "replaced"], ["created", "unchanged"], ["replaced"]])
@pytest.mark.parametrize("allowed", ["true", "rating.ticket.owner == caller.user"])
@pytest.mark.parametrize("key", [["ticket"], ["ticket", "by"]])
def test_what_the_path_of_a_put_refers_to_is_there_and_seen_as_what_a_body_refers_to(
    outcomes: list[str], allowed: str, key: list[str]
) -> None:
    """A row that is there keeps its references, whoever sees what they refer to."""
    number, ends = {"type": "integer"}, {"on delete": "cascade"}
    path = "/".join(f"{{{each}}}" for each in key)
    stated = contract(
        {
            "user": {"fields": {"id": number, "key": KEYED}},
            "ticket": {"fields": {"id": number, "owner": {"references": "user", **ends}, "status": {"state": True}}},
            "rating": {
                "primary key": key[0] if len(key) == 1 else key,
                "fields": {
                    "ticket": {"references": "ticket", **ends},
                    "by": {"references": "user", **ends, "on create": "caller.user"},
                    "score": {"type": "integer", "maximum": 5},
                },
                "required": ["score"],
            },
        },
        {
            f"PUT /{path}": {
                "does": "put rating",
                "body": ["score"],
                "responses": {each: {201 if each == "created" else 200: "rating"} for each in outcomes},
            }
        },
        errors={"codes": {"no": {"status": 403, "for": "forbidden"}}, "precedence": ["forbidden", "not found"]},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        rows={"user": "all", "rating": "all", "ticket": {"key": "ticket.owner == caller.user"}},
        permissions={f"PUT /{path}": {"key": allowed}},
    )
    stated["authentication"]["unseen rows"] = "not found"
    gone = {"initial": "open", "states": ["open", "shut"], "gone": ["shut"], "transitions": {}}
    stated["states"] = {"user": NONE, "rating": NONE, "ticket": gone}
    rows: list[tuple[str, Any]] = [("user", {"id": each, "key": f"k{each}"}) for each in (1, 2)]
    tickets = [(1, 1, "open"), (2, 2, "open"), (3, 1, "shut"), (4, 2, "open"), (5, 1, "open")]
    rows += [("ticket", {"id": each, "owner": owner, "status": status}) for each, owner, status in tickets]
    rows += [("rating", {"ticket": each, "by": 1, "score": 4}) for each in (4, 5)]
    targets = [f"/{each}" + "/1" * (len(key) - 1) for each in (1, 2, 3, 4, 5, 6, "x")]
    asked = [give("PUT", each, {"score": score}, authorization="Bearer k1") for each in targets for score in (4, 6)]
    told = answers(stated, rows, *asked)
    made, seen_by_nobody = told[0].status, {told[2].status, told[4].status, told[10].status}
    assert (made, seen_by_nobody) == ((201, {422}) if "created" in outcomes else (404, {404}))
