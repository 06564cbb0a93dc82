"""Parameters of the query and headers: what is read of their text, what they do, and how what is wrong is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of
from tests.events.service import running
from tests.http_cases import serving
from tests.parts import contract

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

CONTRACT = """
purpose: Files, found by what is asked of them.
resources:
  owner:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      name: {type: string}
    required: [name]
  file:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      name:  {type: string}
      phase: {type: string}
      size:  {type: integer}
      owner: {references: owner, inverse: files, on delete: cascade}
    required: [name, phase, size]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /owners: {does: create owner, body: [name], responses: {201: owner}}
  POST /files:  {does: create file, body: [name, phase, size, owner], responses: {201: file}}
  GET /json:
    does: list file
    sort: [id]
    pages: none
    query:
      like:
        content: application/json
        type: object
        properties: {phase: {type: string, maxLength: 5}, least: {type: integer}}
        required: [phase]
        where: "file.phase == value.phase && (!has(value.least) || file.size >= value.least)"
      sizes: {content: application/json, type: array, items: {type: integer}, where: file.size in value}
    responses: {200: "page.items.map(f, f.name)"}
  GET /box:
    does: compute
    query:
      box:
        content: application/json
        type: object
        properties: {lat: {type: number, maximum: 90}, names: {type: array, items: {type: string, minLength: 2}}}
        required: [lat]
        additionalProperties: false
      free: {content: application/json, type: [object, array, string]}
    responses: {200: {box: request.query.box, free: request.query.free}}
  GET /needed:
    does: compute
    query: {box: {content: application/json, type: object, required: true}}
    responses: {200: {}}
  GET /defaults:
    does: list file
    sort: [id]
    pages: none
    query:
      phase: {type: string, enum: [draft, final, nothing], default: final, where: file.phase == value}
      most:  {type: integer, default: 30, where: file.size <= value}
      least: {where: file.size >= value}
      sizes: {type: array, items: {type: integer}, explode: false, default: [10, 20, 30, 40], where: file.size in value}
    responses: {200: {names: "page.items.map(f, f.name)", phase: request.query.phase, sizes: request.query.sizes}}
  GET /read:
    does: list file
    sort: [id]
    pages: none
    query:
      size: {type: integer, where: file.size >= value}
      name: file.name == value
    where: "!has(request.query.size) || file.size <= request.query.size + 10"
    check:
      - {that: "!has(request.query.size) || request.query.size < 100", else: too_far}
    responses: {200: {names: "page.items.map(f, f.name)", size: request.query.size, name: request.query.name}}
  GET /arrays:
    does: compute
    query:
      many:  {type: array, items: {type: string, maxLength: 5}, maxItems: 3, explode: true}
      few:   {type: array, items: {type: integer, maximum: 9}, uniqueItems: true, explode: false}
      words: {type: array, items: {type: string, minLength: 1}, explode: false}
      texts: {type: array, items: {type: string}, explode: false}
      truth: {type: array, items: {type: boolean}, explode: true}
      most:  {type: array, items: {type: integer}, maxItems: 2, explode: true}
    request headers:
      X-Few:   {type: array, items: {type: integer, maximum: 9}, explode: false}
      X-Two:   {type: array, items: {type: string}, minItems: 2, explode: false}
      X-Texts: {type: array, items: {type: string}, explode: true}
    responses:
      200:
        many: request.query.many
        few: request.query.few
        words: request.query.words
        texts: request.query.texts
        truth: request.query.truth
        x_few: request.headers["X-Few"]
        x_two: request.headers["X-Two"]
        x_texts: request.headers["X-Texts"]
  GET /phases:
    does: list file
    sort: [id]
    pages: none
    query:
      phase: {type: array, items: {enum: [draft, final, nothing]}, explode: false, where: file.phase in value}
      size:  {explode: true, where: file.size in value}
    responses: {200: "page.items.map(f, f.name)"}
  GET /owned:
    does: list file
    sort: [id]
    pages: none
    query:
      owner: file.owner == value
      of:    {explode: false, where: file.owner in value}
      by:    {explode: true, where: file.owner in value && file.owner.id in value}
      not:   {explode: true, where: "!(file.owner in value)"}
      file:  {explode: false, where: file in value}
      from:  "value in file.owner.files"
    responses: {200: "page.items.map(f, f.name)"}
  GET /shown:
    does: list file
    sort: [id]
    pages: none
    query:
      order:  {sorts: [name, -size]}
      fields: {selects: [name, phase, owner], always: [id], explode: false}
      with:   {expands: [owner], explode: true}
    responses: {200: page.items}
  GET /shown-by-default:
    does: list file
    sort: [id]
    pages: none
    query:
      fields: {selects: [name, size], explode: false, default: [name]}
    responses: {200: page.items}
  GET /one:
    does: compute
    query:
      needed: {type: integer, minimum: 1, required: true}
      text:   {type: string, minLength: 1}
      truth:  {type: boolean}
      number: {type: number}
      at:     {type: string, format: date-time}
      any:    {type: [integer, string]}
      "a b+c": {type: string}
    request headers:
      X-Reason: {type: string, required: true, maxLength: 10}
    responses:
      200:
        text: request.query.text
        truth: request.query.truth
        number: request.query.number
        at: request.query.at
        any: request.query.any
    errors: {invalid query.text: bad_text, invalid header.X-Reason: bad_reason}
  GET /open:
    does: compute
    requests: {media type: application/json, unknown members: refused, unknown parameters: ignored}
    query: {text: {type: string}}
    responses: {200: {text: request.query.text}}
  DELETE /files:
    does: delete all file
    query:
      phase: {type: string, where: file.phase == value, required: true}
      size:  {type: integer, default: 20, where: file.size == value}
    responses: {200: {deleted: page.total}}
authentication:
  schemes: none
  rows: all
  permissions: {all others: anyone}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
  codes:
    invalid:    {status: 422, for: invalid}
    bad_text:   {status: 400}
    bad_reason: {status: 400}
    too_far:    {status: 409}
limits: none
versioning: none
"""

FILES = (("a", "draft", 10), ("b", "final", 20), ("c", "final", 30), ("d", "final", 40))

Wrong = list[tuple[str, str]]
"""What is wrong: where it is, and the rule that is not kept."""

REASON = {"X-Reason": "why"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("files") / "files.db", CONTRACT, name="contract.yaml") as service:
        assert service.http.post("/owners", json={"name": "ada"}).status_code == 201
        for name, phase, size in FILES:
            body = {"name": name, "phase": phase, "size": size, "owner": 1}
            assert service.http.post("/files", json=body).status_code == 201
        yield service.http


def shown(http: httpx.Client, target: str, headers: dict[str, str] | None = None) -> Any:
    """What is shown of what is asked for."""
    response = http.get(target, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


def wrong(http: httpx.Client, target: str, headers: dict[str, str] | None = None) -> Wrong:
    """What is wrong with a request. A name is that of the nearest member, and nothing else is told."""
    response = http.get(target, headers=headers)
    assert response.status_code == 422, response.text
    fields = response.json()["fields"]
    for each in fields:
        members = [part for part in each["pointer"].split("/")[1:] if not part.isdecimal()]
        assert each["name"] == (members[-1] if members else each["place"])
        assert set(each) == {"place", "pointer", "name", "rule"}
    return [(each["pointer"], each["rule"]) for each in fields]


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('like={"phase":"final"}', "bcd"),
        ('like={"phase":"final","least":30}', "cd"),
        ("like=%7B%22phase%22%3A%22final%22%7D&sizes=[20,40]", "bd"),
        ('like={"phase":"final","phase":"draft"}', "a"),
        ('like={"phase":"%66inal"}', "bcd"),
        ("sizes=[]", ""),
        ("sizes=+[10]+", "a"),
        ("", "abcd"),
    ],
)
def test_json_narrows_rows(http: httpx.Client, query: str, names: str) -> None:
    assert shown(http, f"/json?{query}") == list(names)


@pytest.mark.parametrize("text", ["", "{", "x", "%00", "%FF", "NaN", "{}{}", "[" * 200, '"%ED%A0%80"', "'a'"])
def test_text_that_is_no_json_is_invalid(http: httpx.Client, text: str) -> None:
    assert wrong(http, f"/json?like={text}") == [("/like", "type")]
    assert wrong(http, f"/needed?box={text}") == [("/box", "type")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("like=[]", [("/like", "type")]),
        ("like=null", [("/like", "type")]),
        ("like={}", [("/like/phase", "required")]),
        ('like={"phase":1}', [("/like/phase", "type")]),
        ('like={"phase":"toolong","least":"x"}', [("/like/phase", "maxLength"), ("/like/least", "type")]),
        ('like={"phase":"a\\u0000"}', [("/like/phase", "range")]),
        ('like={"phase":"a"}&like={"phase":"a"}', [("/like", "repeated")]),
        ('sizes=[1,"x",2.5]', [("/sizes/1", "type"), ("/sizes/2", "type")]),
        ("sizes=20", [("/sizes", "type")]),
        ("sizes=20,30", [("/sizes", "type")]),
        ("sizes=[9223372036854775808]", [("/sizes/0", "range")]),
        ("sizes=[1e400]", [("/sizes/0", "range")]),
    ],
)
def test_json_is_held_to_its_schema_as_a_body_is(http: httpx.Client, query: str, expected: Wrong) -> None:
    assert wrong(http, f"/json?{query}") == expected


def test_json_is_read_by_expressions(http: httpx.Client) -> None:
    assert shown(http, '/box?box={"lat":1,"names":["ab"]}') == {"box": {"lat": 1.0, "names": ["ab"]}}
    assert shown(http, '/box?free="a%2Bb+c"') == {"free": "a+b c"}
    assert shown(http, '/box?free={"a":[null]}') == {"free": {"a": [None]}}
    assert shown(http, "/box") == {}
    assert wrong(http, '/box?box={"lat":91,"names":["a","bb",1],"more":1}&free=1') == [
        ("/box/lat", "maximum"),
        ("/box/names/0", "minLength"),
        ("/box/names/2", "type"),
        ("/box/more", "unknown"),
        ("/free", "type"),
    ]
    assert wrong(http, "/needed") == [("/box", "required")]
    assert shown(http, "/needed?box={}") == {}


# ── Defaults, and conditions ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "names", "phase"),
    [
        ("", "bc", "final"),
        ("phase=draft", "a", "draft"),
        ("most=20", "b", "final"),
        ("most=100", "bcd", "final"),
        ("sizes=20", "b", "final"),
        ("phase=final&most=100&least=21", "cd", "final"),
        ("phase=nothing", "", "nothing"),
    ],
)
def test_a_default_narrows_rows_where_nothing_is_given(http: httpx.Client, query: str, names: str, phase: str) -> None:
    found = shown(http, f"/defaults?{query}")
    assert (found["names"], found["phase"]) == (list(names), phase)
    assert found["sizes"] == ([20] if "sizes" in query else [10, 20, 30, 40])


def test_an_empty_text_is_given(http: httpx.Client) -> None:
    assert wrong(http, "/defaults?phase=&sizes=") == [("/phase", "enum"), ("/sizes/0", "type")]
    assert wrong(http, "/defaults?phase&most") == [("/phase", "enum"), ("/most", "type")]


def test_a_parameter_that_narrows_rows_is_read_everywhere(http: httpx.Client) -> None:
    assert shown(http, "/read") == {"names": [*"abcd"]}
    assert shown(http, "/read?size=20") == {"names": ["b", "c"], "size": 20}
    assert shown(http, "/read?size=30&name=d") == {"names": ["d"], "size": 30, "name": "d"}
    assert shown(http, "/read?name=") == {"names": [], "name": ""}
    refused = http.get("/read?size=100")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_far")
    assert wrong(http, "/read?size=100x") == [("/size", "type")]
    assert wrong(http, "/read?size=1&size=100") == [("/size", "repeated")]


def test_rows_are_deleted_by_what_is_given_and_by_defaults(tmp_path: Path) -> None:
    with running(tmp_path / "files.db", CONTRACT, name="contract.yaml") as service:
        for name, phase, size in FILES:
            service.http.post("/files", json={"name": name, "phase": phase, "size": size})
        assert service.http.delete("/files").status_code == 422
        assert service.http.delete("/files?phase=").json() == {"deleted": 0}
        assert service.http.delete("/files?phase=final&size=x").status_code == 422
        assert shown(service.http, "/read")["names"] == [*"abcd"]
        assert service.http.delete("/files?phase=final").json() == {"deleted": 1}
        assert service.http.delete("/files?phase=final&size=40").json() == {"deleted": 1}
        assert shown(service.http, "/read")["names"] == ["a", "c"]


# ── Several values ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("many=a&many=b", {"many": ["a", "b"]}),
        ("many=a,b", {"many": ["a,b"]}),
        ("many=", {"many": [""]}),
        ("many", {"many": [""]}),
        ("few=1,2", {"few": [1, 2]}),
        ("few=1%2C2", {"few": [1, 2]}),
        ("texts=", {"texts": [""]}),
        ("texts=,", {"texts": ["", ""]}),
        ("texts=+a+,%2B,a%2Cb", {"texts": [" a ", "+", "a", "b"]}),
        ("truth=true&truth=false", {"truth": [True, False]}),
        ("", {}),
    ],
)
def test_several_values_are_repeated_or_stand_between_commas(
    http: httpx.Client, query: str, expected: dict[str, Any]
) -> None:
    assert shown(http, f"/arrays?{query}") == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("many=abcdef&many=x&many=abcdefg", [("/many/0", "maxLength"), ("/many/2", "maxLength")]),
        ("many=1&many=2&many=3&many=4", [("/many", "maxItems")]),
        ("most=1&most=x&most=y", [("/most", "maxItems")]),
        ("most=" + "x&most=" * 200, [("/most", "maxItems")]),
        ("few=", [("/few/0", "type")]),
        ("few=1,,2", [("/few/1", "type")]),
        ("few=99,x,1,10,y", [("/few/0", "maximum"), ("/few/1", "type"), ("/few/3", "maximum"), ("/few/4", "type")]),
        ("few=1,1,x", [("/few", "uniqueItems"), ("/few/2", "type")]),
        ("few=1&few=2", [("/few", "repeated")]),
        ("few=9223372036854775808,3", [("/few/0", "range")]),
        ("few=+1", [("/few/0", "type")]),
        ("few=1,%FF,%FE,%ED%A0%80", [("/few/1", "type"), ("/few/2", "type"), ("/few/3", "type")]),
        ("words=%FF,%FE,", [("/words/0", "range"), ("/words/1", "range"), ("/words/2", "minLength")]),
        ("words=", [("/words/0", "minLength")]),
        ("words=a,,b", [("/words/1", "minLength")]),
        ("texts=a,%00,%FF", [("/texts/1", "range"), ("/texts/2", "range")]),
        ("truth=true&truth=yes", [("/truth/1", "type")]),
        ("few=x&truth=y", [("/few/0", "type"), ("/truth/0", "type")]),
    ],
)
def test_an_item_is_invalid_at_its_place(http: httpx.Client, query: str, expected: Wrong) -> None:
    assert wrong(http, f"/arrays?{query}") == expected


def test_several_values_narrow_rows(http: httpx.Client) -> None:
    assert shown(http, "/phases?phase=draft") == ["a"]
    assert shown(http, "/phases?phase=draft,final&size=10&size=20") == ["a", "b"]
    assert wrong(http, "/phases?phase=draft,other&size=10,20") == [("/phase/1", "enum"), ("/size/0", "type")]
    assert wrong(http, "/phases?phase=&size=10&size=x") == [("/phase/0", "enum"), ("/size/1", "type")]
    assert wrong(http, "/phases?phase=draft&phase=final") == [("/phase", "repeated")]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("owner=1", "abcd"),
        ("of=1", "abcd"),
        ("of=2,1", "abcd"),
        ("of=2", ""),
        ("by=2&by=1", "abcd"),
        ("by=3", ""),
        ("not=1", ""),
        ("not=2&not=3", "abcd"),
        ("file=1,4", "ad"),
        ("from=2", "abcd"),
        ("from=7", ""),
    ],
)
def test_rows_are_found_by_the_rows_that_they_refer_to(http: httpx.Client, query: str, names: str) -> None:
    assert shown(http, f"/owned?{query}") == list(names)


@pytest.mark.parametrize("query", ["owner=x", "of=1,x", "by=1&by=x", "not=x", "file=x", "from=x"])
def test_what_is_no_primary_key_finds_no_rows(http: httpx.Client, query: str) -> None:
    assert [rule for _, rule in wrong(http, f"/owned?{query}")] == ["type"]


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("few=" + ",".join(["x"] * 10_000), "type"),
        ("few=" + ",".join(["99"] * 10_000), "maximum"),
        ("few=x," + ",".join(["99"] * 10_000), "maximum"),
        ("words=" + "," * 10_000, "minLength"),
    ],
)
def test_of_very_many_items_a_hundred_failures_are_told(http: httpx.Client, query: str, most: str) -> None:
    told = wrong(http, f"/arrays?{query}")
    assert len(told) == 101 and told[-1] == ("", "more") and (f"/{query[: query.index('=')]}/98", most) in told


def test_very_many_items_that_are_right_are_read(http: httpx.Client) -> None:
    assert shown(http, "/arrays?texts=" + "," * 9_999) == {"texts": [""] * 10_000}
    assert shown(http, "/phases?phase=" + ",".join(["draft"] * 9_000)) == ["a"]
    assert shown(http, "/json?sizes=[" + ",".join(["10"] * 10_000) + "]") == ["a"]
    assert wrong(http, "/arrays?many=" + "&many=".join(["abcdef"] * 5_000)) == [("/many", "maxItems")]
    assert wrong(http, "/shown?fields=" + ",".join(["name"] * 10_000)) == [("/fields", "uniqueItems")]
    assert wrong(http, "/json?sizes=[" + "{}," * 10_000 + "1]")[-1] == ("", "more")
    assert wrong(http, "/arrays?" + "&".join(f"p{number}" for number in range(10_000)))[-1] == ("", "more")


# ── Headers ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_header_gives_several_values(http: httpx.Client) -> None:
    assert shown(http, "/arrays", {"X-Few": "1,2"}) == {"x_few": [1, 2]}
    assert shown(http, "/arrays", {"X-Few": "1 , 2,\t3", "X-Two": "a, b"}) == {"x_few": [1, 2, 3], "x_two": ["a", "b"]}
    assert wrong(http, "/arrays", {"X-Few": "x, 1,99,"}) == [
        ("/X-Few/0", "type"),
        ("/X-Few/2", "maximum"),
        ("/X-Few/3", "type"),
    ]
    assert wrong(http, "/arrays", {"X-Few": "", "X-Two": "a"}) == [("/X-Few/0", "type"), ("/X-Two", "minItems")]
    assert shown(http, "/arrays", {"X-Texts": "a, b"}) == {"x_texts": ["a, b"]}


def test_a_header_that_comes_twice_is_one_with_a_comma(http: httpx.Client) -> None:
    twice = http.get("/arrays", headers=[("X-Few", "1"), ("x-few", "2")])
    assert twice.json() == {"x_few": [1, 2]}


# ── What a request chooses ────────────────────────────────────────────────────────────────────────────────


def test_an_order_is_chosen(http: httpx.Client) -> None:
    assert [each["id"] for each in shown(http, "/shown?order=name")] == [1, 2, 3, 4]
    assert [each["id"] for each in shown(http, "/shown?order=-size")] == [4, 3, 2, 1]
    assert [each["id"] for each in shown(http, "/shown?order=%2Dsize")] == [4, 3, 2, 1]
    for order in ("-name", "", "name,-size", "id"):
        assert wrong(http, f"/shown?order={order}") == [("/order", "enum")]
    assert wrong(http, "/shown?order=name&order=name") == [("/order", "repeated")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"id": 1, "name": "a", "phase": "draft", "size": 10, "owner": 1}),
        ("fields=name", {"id": 1, "name": "a"}),
        ("fields=phase,name", {"id": 1, "name": "a", "phase": "draft"}),
        ("fields=phase%2Cname", {"id": 1, "name": "a", "phase": "draft"}),
        ("with=owner", {"id": 1, "name": "a", "phase": "draft", "size": 10, "owner": {"id": 1, "name": "ada"}}),
        ("fields=owner&with=owner", {"id": 1, "owner": {"id": 1, "name": "ada"}}),
        ("fields=name&with=owner", {"id": 1, "name": "a"}),
    ],
)
def test_members_are_chosen(http: httpx.Client, query: str, expected: dict[str, Any]) -> None:
    assert shown(http, f"/shown?{query}")[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("fields=", [("/fields/0", "enum")]),
        ("fields=name,", [("/fields/1", "enum")]),
        ("fields=id,name,other", [("/fields/0", "enum"), ("/fields/2", "enum")]),
        ("fields=%FF,%00,name,x", [("/fields/0", "range"), ("/fields/1", "range"), ("/fields/3", "enum")]),
        ("fields=name,name", [("/fields", "uniqueItems")]),
        ("fields=name&fields=phase", [("/fields", "repeated")]),
        ("with=", [("/with/0", "enum")]),
        ("with=owner,owner", [("/with/0", "enum")]),
        ("with=owner&with=owner", [("/with", "uniqueItems")]),
        ("with=owner&with=files&fields=x", [("/fields/0", "enum"), ("/with/1", "enum")]),
    ],
)
def test_what_is_not_offered_is_invalid_at_its_place(http: httpx.Client, query: str, expected: Wrong) -> None:
    assert wrong(http, f"/shown?{query}") == expected


def test_members_are_chosen_by_default(http: httpx.Client) -> None:
    assert shown(http, "/shown-by-default")[0] == {"name": "a"}
    assert shown(http, "/shown-by-default?fields=size")[0] == {"size": 10}


# ── One value ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [("/needed", "required")]),
        ("needed=", [("/needed", "type")]),
        ("needed=0", [("/needed", "minimum")]),
        ("needed=+1", [("/needed", "type")]),
        ("needed=%2B1", [("/needed", "type")]),
        ("needed=01", [("/needed", "type")]),
        ("needed=1.0", [("/needed", "type")]),
        ("needed=%D9%A1", [("/needed", "type")]),
        ("needed=1%00", [("/needed", "type")]),
        ("needed=99999999999999999999999", [("/needed", "range")]),
        ("needed=1&needed=1", [("/needed", "repeated")]),
        ("needed=1&truth=TRUE&number=NaN", [("/truth", "type"), ("/number", "type")]),
        ("needed=1&number=1e400", [("/number", "range")]),
        ("needed=1&at=2020-01-01T00:00:00+01:00", [("/at", "format")]),
        ("needed=1&a+b+c=x", [("/a b c", "unknown")]),
        ("NEEDED=1", [("/NEEDED", "unknown"), ("/needed", "required")]),
    ],
)
def test_one_value_is_held_to_its_type_and_schema(http: httpx.Client, query: str, expected: Wrong) -> None:
    assert wrong(http, f"/one?{query}", REASON) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {}),
        ("text=a%20b+c%2B&truth=true", {"text": "a b c+", "truth": True}),
        ("number=1e2", {"number": 100.0}),
        ("at=2020-01-01T00:00:00%2B01:00", {"at": "2019-12-31T23:00:00.000000Z"}),
        ("any=1", {"any": "1"}),
        ("a+b%2Bc=x", {}),
        ("t%65xt=%F0%9F%98%80", {"text": "\N{GRINNING FACE}"}),
    ],
)
def test_one_value_is_read_of_its_text(http: httpx.Client, query: str, expected: dict[str, Any]) -> None:
    assert shown(http, f"/one?needed=1&{query}", REASON) == expected


def test_a_parameter_and_a_header_have_codes_of_their_own(http: httpx.Client) -> None:
    for query, headers, code, pointer, rule in (
        ("text=", REASON, "bad_text", "/text", "minLength"),
        ("text=a&text=b", REASON, "bad_text", "/text", "repeated"),
        ("text=%00", REASON, "bad_text", "/text", "range"),
        ("", {}, "bad_reason", "/X-Reason", "required"),
        ("", {"X-Reason": "longer than ten"}, "bad_reason", "/X-Reason", "maxLength"),
    ):
        refused = http.get(f"/one?needed=1&{query}", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, code)
        assert [(each["pointer"], each["rule"]) for each in refused.json()["fields"]] == [(pointer, rule)]


@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        ("=x", ["/"]),
        ("%00=x", ["/\0"]),
        ("%FF=1", ["/?"]),
        ("a/b~c=1", ["/a~1b~0c"]),
        ("other=1&other=2&another", ["/other", "/another"]),
    ],
)
def test_a_parameter_that_nobody_knows_is_refused(http: httpx.Client, query: str, pointers: list[str]) -> None:
    refused = http.get(f"/arrays?{query}")
    assert refused.status_code == 422
    assert [(each["pointer"], each["rule"]) for each in refused.json()["fields"]] == [
        (each, "unknown") for each in pointers
    ]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("other=1&text=a", "a"),
        ("=x&%00=y&%FF", None),
        ("&&text=a&&", "a"),
        ("text=a=b;c", "a=b;c"),
        ("text=%zz", "%zz"),
        ("text=%", "%"),
        ("TEXT=a", None),
        ("text[]=a", None),
        ("text=", ""),
    ],
)
def test_what_nobody_knows_may_be_ignored(http: httpx.Client, query: str, text: str | None) -> None:
    assert shown(http, f"/open?{query}") == ({} if text is None else {"text": text})


@pytest.mark.parametrize("text", ["%00", "a%00b", "%FF", "%ED%A0%80"])
def test_what_no_text_has_is_out_of_range(http: httpx.Client, text: str) -> None:
    assert wrong(http, f"/open?text={text}") == [("/text", "range")]


def test_a_header_that_gives_one_text_cannot_give_two() -> None:
    contract = CONTRACT.replace("minItems: 2, explode: false", "minItems: 2, explode: true")
    found = compile_document("contract.yaml", contract.encode())
    assert [each.message for each in found.diagnostics if each.code.id == "NF0640"] == ["no request can give `X-Two`"]


COLOUR = "{$ref: '#/types/colour'}"


@pytest.mark.parametrize(
    ("schema", "in_path"),
    [
        (COLOUR, True),
        (f"{{type: string, allOf: [{COLOUR}]}}", True),
        (f"{{type: string, oneOf: [{COLOUR}]}}", True),
        (f"{{anyOf: [{COLOUR}, {{const: blue}}]}}", False),
        (f"{{enum: [red, plum], items: {COLOUR}, if: {COLOUR}}}", False),
        (f"{{type: string, anyOf: [{COLOUR}], default: green}}", False),
    ],
)
def test_a_parameter_may_be_of_a_shared_type(schema: str, in_path: bool, tmp_path: Path) -> None:
    """Also where its schema leads to one inside; what is none in a path is no such path."""
    text = contract(
        "thing: {primary key: id, fields: {id: {type: integer, on create: serial()}}}\n"
        "types: {colour: {type: string, enum: [red, green]}}",
        f"DELETE /things: {{does: delete all thing, query: {{hue: {schema}}}, responses: {{204: none}}}}"
        + f"\nDELETE /of/{{hue}}: {{does: delete all thing, path: {{hue: {schema}}}, responses: {{204: none}}}}"
        * in_path,
    )
    plan = plan_of(text)
    with serving(plan, tmp_path / "a.db", {}) as client:
        for hue, found, there in (("red", 204, 204), ("grey", 422, 404)):
            assert client.delete("/things", params={"hue": hue}).status_code == found
            assert not in_path or client.delete(f"/of/{hue}").status_code == there


ARRAYS = """
thing: {primary key: id, fields: {id: {type: integer, on create: serial()}, at: {type: integer}}}
types:
  word: {type: string, maxLength: 3}
  words: {type: array, items: {$ref: '#/types/word'}}
  place: {type: object, properties: {x: {type: integer}, name: {$ref: '#/types/word'}}}
"""


@pytest.mark.parametrize(
    ("parameter", "shown", "code"),
    [
        ("{$ref: '#/types/word'}", "request.GROUP.it.size()", None),
        ("{$ref: '#/types/word'}", "request.GROUP.it + 1", "NF0407"),
        ("{$ref: '#/types/words', explode: true}", "request.GROUP.it.map(i, i + '!')", None),
        ("{$ref: '#/types/words', explode: false}", "request.GROUP.it.map(i, i + 1)", "NF0407"),
        ("{type: array, items: {$ref: '#/types/word'}, explode: true}", "request.GROUP.it.map(i, i + 1)", "NF0407"),
        ("{$ref: '#/types/words'}", "request.GROUP.it", "NF0575"),
        ("{$ref: '#/types/word', explode: true}", "request.GROUP.it", "NF0535"),
        (
            "{$ref: '#/types/place', content: application/json}",
            "request.GROUP.it.name.size() + request.GROUP.it.x",
            None,
        ),
        ("{$ref: '#/types/place', content: application/json}", "request.GROUP.it.nome", "NF0403"),
    ],
)
@pytest.mark.parametrize("group", ["query", "request headers"])
def test_an_expression_knows_what_a_shared_type_says_of_a_parameter(
    parameter: str, shown: str, code: str | None, group: str
) -> None:
    """As it knows it of one whose own schema says it: a mistake is an error before the start, and no empty answer."""
    if "content" in parameter and group != "query":
        return
    read = shown.replace("GROUP", group.removeprefix("request "))
    endpoint = f"GET /it: {{does: compute, {group}: {{it: {parameter}}}, responses: {{200: {{it: '{read}'}}}}}}"
    loaded = compile_document("c.md", contract(ARRAYS, endpoint.replace("'!'", '"!"')).encode())
    assert [each.code.id for each in loaded.diagnostics] == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("condition", "parameter"),
    [("thing.at == value", "where"), ("thing.at == request.path.it", "path")],
)
def test_what_is_compared_with_a_parameter_of_a_shared_type_is_of_that_type(condition: str, parameter: str) -> None:
    own = "{$ref: '#/types/word'}" if parameter == "path" else f"{{$ref: '#/types/word', where: {condition}}}"
    said = f"path: {{it: {own}}}, where: {condition}" if parameter == "path" else f"query: {{it: {own}}}"
    path = "/of/{it}" if parameter == "path" else "/of"
    text = contract(ARRAYS, f"DELETE {path}: {{does: delete all thing, {said}, responses: {{204: none}}}}")
    assert [each.code.id for each in compile_document("c.md", text.encode()).diagnostics] == ["NF0407"]
