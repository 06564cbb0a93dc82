"""Orders of a list that a request chooses: by names of their own, several at once, and turned round. Over SQLite and
PostgreSQL, with pages by cursors and by offsets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.events.service import running
from tests.parts import contract, told
from tests.postgresql import server

pytestmark = pytest.mark.serves

RESOURCES = """
note:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    text:  {type: string}
    n:     {type: integer}
    rank:  {computed: note.id % 2}
  required: [text]
pair: {primary key: [a, b], fields: {a: {type: string}, b: {type: integer}, c: {type: integer}}}
"""
SHOWN = "responses: {200: {data: page.items, next: page.next, size: page.size}}"
WAY = "{type: string, enum: [asc, desc], default: asc, reverses: [desc]}"
NAMED = "{latest: -id, name_asc: text, name_desc: [-text], mixed: [n, -text]}"
SEVERAL = "[text, -text, n, -n, id, -id, rank]"
CONTRACT = contract(
    RESOURCES,
    f"""
POST /notes: {{does: create note, body: [text, n], responses: {{201: note}}}}
POST /pairs: {{does: create pair, body: [a, b, c], responses: {{201: pair}}}}
GET /named: {{does: list note, query: {{sort: {{sorts: {NAMED}}}, direction: {WAY}}}, sort: [text], {SHOWN}}}
GET /commas:
  does: list note
  query: {{sort: {{type: array, explode: false, sorts: {SEVERAL}}}, back: {{type: boolean, reverses: ["true"]}}}}
  sort: [n]
  {SHOWN}
GET /offsets:
  does: list note
  query: {{sort: {{type: array, explode: true, sorts: {SEVERAL}}}}}
  sort: [-id]
  pages: {{by: offset, default: 2, maximum: 3, clamps: true, size: limit, at: offset, first: 0}}
  {SHOWN}
GET /groups:
  does: list note
  query: {{sort: {{type: array, explode: false, sorts: {{a: [n, -text], b: text, c: id}}}}}}
  sort: none
  {SHOWN}
GET /pairs: {{does: list pair, query: {{sort: {{type: array, explode: false, sorts: [c, -a]}}}}, sort: [b], {SHOWN}}}
GET /alone: {{does: list note, query: {{down: {{type: boolean, reverses: ["true"]}}}}, sort: [n, text], {SHOWN}}}
""",
    limits="pages: {by: cursor, default: 2, minimum: 2, maximum: 4, clamps: true, size: limit, at: cursor}",
)
NOTES = [("b", 1), ("a", None), ("b", 2), ("c", 1), ("a", 1), ("b", None), ("a", 2)]


@pytest.fixture(params=["sqlite", "postgresql"], scope="module")
def http(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    sqlite = request.param == "sqlite"
    database: Path | str = tmp_path_factory.mktemp("orders") / "a.db" if sqlite else server.database()
    with running(database, CONTRACT) as service:
        for text, n in NOTES:
            body = {"text": text} if n is None else {"text": text, "n": n}
            assert service.http.post("/notes", json=body).status_code == 201
        for a, b, c in (("x", 1, 2), ("x", 2, 1), ("y", 1, 1), ("y", 2, 2)):
            assert service.http.post("/pairs", json={"a": a, "b": b, "c": c}).status_code == 201
        yield service.http


def ordered(*keys: str) -> list[int]:
    """The identifiers of the notes in an order, without a value last, primary keys behind it."""
    columns: dict[str, list[Any]] = {
        "id": [*range(1, len(NOTES) + 1)],
        "text": [text for text, _ in NOTES],
        "n": [n for _, n in NOTES],
        "rank": [number % 2 for number in range(1, len(NOTES) + 1)],
    }
    rows = [*range(len(NOTES))]
    for key in reversed(keys):  # sorting is stable
        column = columns[key.removeprefix("-")]
        there = [row for row in rows if column[row] is not None]
        there.sort(key=column.__getitem__, reverse=key.startswith("-"))  # which keeps those that are alike in turn
        rows = there + [row for row in rows if column[row] is None]
    return [row + 1 for row in rows]


def walked(http: httpx.Client, path: str, key: str = "id") -> list[Any]:
    """All rows, in pages of two."""
    found, cursor = [], None
    while True:
        more = "&limit=2" if cursor is None else f"&limit=2&cursor={cursor}"
        answer = http.get(path + ("" if "?" in path else "?") + more)
        assert answer.status_code == 200, answer.text
        found += [row[key] for row in answer.json()["data"]]
        cursor = answer.json().get("next")
        if cursor is None:
            return found


TURNED = {"latest": ["id"], "name_asc": ["-text"], "name_desc": ["text"], "mixed": ["-n", "text"], "": ["-text"]}
STRAIGHT = {"latest": ["-id"], "name_asc": ["text"], "name_desc": ["-text"], "mixed": ["n", "-text"], "": ["text"]}


@pytest.mark.parametrize("name", STRAIGHT)
def test_an_order_has_a_name_of_its_own_and_is_turned_round_by_another_parameter(http: httpx.Client, name: str) -> None:
    sort = f"sort={name}&" if name else ""
    assert walked(http, f"/named?{sort}") == ordered(*STRAIGHT[name])
    assert walked(http, f"/named?{sort}direction=asc") == ordered(*STRAIGHT[name])
    assert walked(http, f"/named?{sort}direction=desc") == ordered(*TURNED[name])


def test_what_is_turned_round_is_the_order_of_that_name(http: httpx.Client) -> None:
    """So that cursors of the one are good for the other, and for none else."""
    one = http.get("/named?sort=name_desc").json()["next"]
    assert http.get("/named?sort=name_asc&direction=desc").json()["next"] == one
    assert http.get("/named?direction=desc").json()["next"] == one
    assert http.get("/named", params={"direction": "desc", "cursor": one}).status_code == 200
    for other in ("", "sort=latest", "sort=mixed", "sort=name_desc&direction=desc"):
        assert told(http.get(f"/named?{other}", params={**httpx.QueryParams(other), "cursor": one})) == "invalid"


def test_the_order_that_is_there_is_turned_round_where_none_can_be_chosen(http: httpx.Client) -> None:
    assert walked(http, "/alone") == ordered("n", "text")
    assert walked(http, "/alone?down=false") == ordered("n", "text")
    assert walked(http, "/alone?down=true") == ordered("-n", "-text")


CHOSEN = [each for size in (1, 2, 3) for each in permutations(("text", "-n", "rank"), size)]
CHOSEN += [("-text", "n"), ("n", "-id"), ("id", "text"), ("-id", "rank", "n"), ("rank", "-text", "-n", "-id")]


@pytest.mark.parametrize("keys", CHOSEN, ids=",".join)
def test_several_orders_are_one_behind_the_other(http: httpx.Client, keys: tuple[str, ...]) -> None:
    assert walked(http, f"/commas?sort={','.join(keys)}") == ordered(*keys)
    repeated = "&".join(f"sort={each}" for each in keys)
    found = [http.get(f"/offsets?{repeated}&limit=3&offset={at}").json()["data"] for at in (0, 3, 6)]
    assert [row["id"] for each in found for row in each] == ordered(*keys)


def test_several_orders_are_turned_round_each(http: httpx.Client) -> None:
    assert walked(http, "/commas?back=true") == ordered("-n")
    assert walked(http, "/commas?sort=text,-n&back=true") == ordered("-text", "n")
    assert walked(http, "/commas?sort=-id&back=true") == ordered("id")
    one = http.get("/commas?sort=n,-text").json()["next"]
    assert http.get("/commas?sort=-n,text&back=true").json()["next"] == one
    assert http.get("/commas?sort=n,text&back=true").json()["next"] != one
    assert http.get("/commas").json()["next"] == http.get("/commas?sort=n").json()["next"]
    assert http.get("/commas?sort=n,id").json()["next"] == http.get("/commas?sort=n").json()["next"]


def test_the_names_of_several_fields_are_put_one_behind_the_other(http: httpx.Client) -> None:
    assert walked(http, "/groups") == ordered("id")
    assert walked(http, "/groups?sort=a,c") == ordered("n", "-text", "id")
    assert walked(http, "/groups?sort=b,c") == ordered("text", "id")
    [wrong] = http.get("/groups?sort=a,b").json()["fields"]
    assert (wrong["name"], wrong["rule"]) == ("sort", "maxContains")
    assert walked(http, "/pairs?sort=c", "b") == [2, 1, 1, 2]
    assert walked(http, "/pairs?sort=-a,c", "b") == [1, 2, 2, 1]
    assert walked(http, "/pairs", "a") == ["x", "y", "x", "y"]


@pytest.mark.parametrize(
    ("sort", "rule"),
    [
        ("text,-text", "maxContains"),
        ("n,text,n", "maxContains"),
        ("text,twice", "enum"),
        ("", "enum"),
        ("text,", "enum"),
    ],
)
def test_what_contradicts_itself_or_is_not_offered_is_invalid_at_the_parameter(
    http: httpx.Client, sort: str, rule: str
) -> None:
    answer = http.get(f"/commas?sort={sort}")
    [wrong] = answer.json()["fields"]
    assert (told(answer), wrong["name"], wrong["rule"]) == ("invalid", "sort", rule)


def test_a_cursor_is_of_all_orders_that_are_chosen_in_their_turn(http: httpx.Client) -> None:
    cursor = http.get("/commas?sort=text,-n").json()["next"]
    assert http.get("/commas", params={"sort": "text,-n,id", "cursor": cursor}).status_code == 200
    for other in ("text", "text,n", "-n,text", "-text,-n", "text,-n,-id", "text,-n,rank"):
        assert told(http.get("/commas", params={"sort": other, "cursor": cursor})) == "invalid", other


@pytest.mark.parametrize(("asked", "size"), [("1", 2), ("-7", 2), ("2", 2), ("3", 3), ("4", 4), ("99999", 4)])
def test_a_size_beyond_the_bounds_is_taken_as_the_nearest(http: httpx.Client, asked: str, size: int) -> None:
    answer = http.get(f"/named?limit={asked}").json()
    assert (answer["size"], len(answer["data"])) == (size, size)


@pytest.mark.parametrize("asked", ["", "x", "2.5", "2&limit=3", "9" * 30])
def test_what_is_no_whole_number_is_no_size(http: httpx.Client, asked: str) -> None:
    assert told(http.get(f"/named?limit={asked}")) == "invalid"
