"""Cases, checks, one row, parameters, terms, paths, pages and effects, sentence by sentence: each test has the name of
what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.events.service import running
from tests.parts import contract, told

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

RESOURCES = """
    person:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        name:  {type: string, unique: true}
        role:  {type: string}
        token: {type: string, secret: token, on create: token()}
    room:
      primary key: id
      fields:
        id:    {type: string, maxLength: 40}
        seats: {type: integer}
        owner: {references: person, on create: caller.person}
      check: {that: "room.seats < 1000", else: huge}
      views: {brief: [id, {mine: mine(room)}, {big: big}]}
    desk:
      primary key: id
      fields:
        id:    {type: string}
        room:  {references: room, inverse: desks}
        tags:  {type: array, items: {type: string}, on create: []}
        size:  {type: number, on create: 1}
        more:  {type: object, additionalProperties: {type: string}}
        lists: {type: array, items: {type: integer}, on create: []}
    slot:
      primary key: [room, hour]
      fields:
        room:  {references: room}
        hour:  {type: integer}
        code:  {type: string, unique: true}
        note:  {type: [string, "null"]}
      required: [code]
    note:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        title: {type: string}
        text:  {type: string}
        slug:  {type: string, on change: {title: "slug(note.title) + '-' + random(6)"}}
        both:  {type: string, on change: {title or text: random(8)}}
        first: {type: string, on change: {title: "'title'", text: "'text'"}}
        fixed: {type: object, on create: {const: {const: x}}}
        job:   {state: true}
    log:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        text:  {type: string}
    terms:
      mine(r): r.owner == caller.person
      big: room.seats > 10
      holds(d, t): d.tags.exists(x, x == t)
      known(k): all(room).filter(r, r.id == k).first()
    types:
      lot: {type: object, properties: {texts: {type: array, items: {type: string}}}, required: [texts]}
    """

STATES = """
    person: none
    room: none
    desk: none
    slot: none
    log: none
    note:
      initial: open
      states: [open, done]
      transitions:
        retry: {from: done, to: open}
        finish: {from: open, to: done, check: {that: "note.text != ''", else: third}}
    """

ENDPOINTS = """
    POST /people: {does: create person, body: [name, role], responses: {201: {id: person.id, token: issued.token}}}
    GET /things/{id}:
      query: {kind: {type: string}}
      cases:
        by: request.query.kind
        room: {does: read room, check: {that: mine(room), else: first}, responses: {200: brief(room)}}
        desk: {does: read desk, etag: true, responses: {200: desk}}
    PUT /things/{id}:
      does: put room
      cases:
        by: request.body.seats
        all others: {body: [seats], responses: {created or replaced: {200: room}, unchanged: {202: room}}}
    GET /rooms:
      does: list room
      sort: [id]
      query:
        ids:   {explode: true, where: room.id in value}
        split: {explode: false, where: room.id in value}
        least: {type: integer, minimum: 0, default: 0, where: room.seats >= value}
        most:  {where: room.seats <= value}
        free:  {type: integer}
        must:  {type: string, required: true, enum: [x, y]}
        sort:  {sorts: [id, -seats]}
        show:  {selects: [id, seats], always: [id], explode: false}
        with:  {expands: [desks], explode: false}
        deep:
          content: application/json
          type: object
          properties: {max: {type: integer}}
          additionalProperties: false
          where: "!has(value.max) || room.seats <= value.max"
      pages: {by: offset, first: 1, minimum: 0, default: 2, maximum: 10, size: size, at: from}
      headers:
        Link: "'<' + page.at(page.next) + '>; rel=\\"next\\"'"
        X-Free: "has(request.query.free) ? 'free' : 'none'"
        X-Least: string(request.query.least)
      responses:
        200: {total: page.total, start: page.start, next: page.next, previous: page.previous, rooms: page.items}
    GET /desks:
      does: list desk
      sort: [id]
      pages: {by: page, first: 1, default: 2, maximum: 10, size: size, at: page}
      query:
        tag: "holds(desk, value)"
        key:
          content: application/json
          type: object
          additionalProperties: {type: string}
          where: "value.all(k, v, desk.more[k] == v)"
      responses: {200: {desks: "page.items.map(d, d.id)", next: page.next, more: page.at(page.next)}}
    GET /held/{id}:
      does: read desk
      responses: {200: {each: "desk.tags.map(x, holds(desk, x))", two: "desk.tags.filter(x, holds(desk, x)).size()"}}
    POST /rooms: {does: create room, body: [id, seats], responses: {201: room}}
    GET /rooms/{id}: {does: read room, responses: {200: brief(room)}}
    GET /known:
      does: compute
      query: {id: {type: string}}
      responses:
        200: {seats: "known(request.query.id).seats", is: "has(request.query.id) && request.query.id in ['a']"}
    POST /desks: {does: create desk, body: [id, room, tags, size, more], responses: {201: desk}}
    PATCH /desks/{id}:
      does: update desk
      patch: merge
      body: [tags]
      sets: {lists: "desk.lists + [desk.tags.size()]"}
      responses: {200: desk}
    POST /slots: {does: create slot, body: [room, hour, code], responses: {201: slot}}
    GET /slots/by-code:
      does: read slot
      query: {code: {type: string}}
      where: slot.code == request.query.code
      responses: {200: slot}
    GET /slots/by-key:
      does: read slot
      query: {room: {type: string}, hour: {type: integer}}
      where: slot.room == known(request.query.room) && slot.hour == request.query.hour
      responses: {200: slot}
    GET /slots:
      does: list slot
      query: {code: {type: string}}
      where: slot.code == request.query.code
      sort: [code]
      pages: none
      responses: {200: {codes: "page.items.map(s, s.code)"}}
    GET /rooms/{room.id}/slot:
      does: read slot
      query: {hour: {type: integer}}
      where: slot.hour == request.query.hour
      responses: {200: slot}
    POST /notes: {does: create note, body: [title, text], responses: {201: note}}
    PATCH /notes/{id}: {does: update note, body: [title, text], patch: merge, responses: {200: note}}
    GET /notes/{id}: {does: read note, responses: {200: note}}
    DELETE /notes/{id}: {does: delete note, responses: {204: none}}
    POST /notes/{id}:retry: {does: retry note, body: none, responses: {200: note}}
    POST /notes/{id}/finish:
      does: finish note
      body: none
      check: [{that: "note.title != 'bad'", else: first}, {that: "request.query.go != 'no'", else: none_of_it}]
      query: {go: {type: string}}
      responses: {200: note}
    GET /words/{word}: {does: compute, path: {word: {type: string}}, responses: {200: {word: request.path.word}}}
    GET /words/{word}:loud:
      does: compute
      path: {word: {type: string}}
      responses: {200: {loud: request.path.word.upperAscii()}}
    GET /never: {does: compute, check: {that: false, else: first}}
    POST /logs:
      does: create log
      body: {$ref: "#/types/lot"}
      sets: {text: "'main'"}
      also:
      - {does: create log, each: request.body.texts, where: each != 'skip', sets: {text: each}}
      - {does: create log, where: request.body.texts.size() > 2, sets: {text: "'many'"}}
      responses: {201: {texts: "all(log).map(l, l.text)"}}
    """

CALLERS = """
    schemes: {key: {type: http, scheme: bearer, matches: person.token}}
    rows: all
    permissions: {all others: [key, anyone]}
    """

CONTRACT = contract(
    RESOURCES,
    ENDPOINTS,
    states=STATES,
    callers=CALLERS,
    limits="pages: none",
    codes="""
    huge:       {status: 409}
    first:      {status: 409, headers: {X-Why: "'first'"}}
    none_of_it: {status: 409}
    third:      {status: 409}
    bad_least:  {status: 400, for: invalid query.least}
    """,
)


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("endpoints") / "service.db", CONTRACT) as served:
        client = served.http
        ann = served.person("Ann")
        for id, seats in (("a", 5), ("b", 15), ("c", 25), ("d", 35)):
            assert told(client.post("/rooms", json={"id": id, "seats": seats}, headers=ann)) == 201
        for id, room, tags, more in (
            ("d1", "a", ["x"], {"k": "v"}),
            ("d2", "a", [], {}),
            ("d3", "b", ["x", "y"], {"k": "v", "l": "w"}),
        ):
            assert told(client.post("/desks", json={"id": id, "room": room, "tags": tags, "more": more})) == 201
        for room, hour, code in (("a", 1, "one"), ("b", 2, "two")):
            assert told(client.post("/slots", json={"room": room, "hour": hour, "code": code})) == 201
        client.headers["X-Ann"] = ann["Authorization"]
        yield client


def errors(text: str) -> list[str]:
    return [
        each.code.id
        for each in compile_document("contract.md", text.encode()).diagnostics
        if each.code.severity.value == "error"
    ]


def as_ann(http: httpx.Client) -> dict[str, str]:
    return {"Authorization": http.headers["X-Ann"]}


def rooms(http: httpx.Client, **query: str | int | list[str]) -> object:
    answer = http.get("/rooms", params={"must": "x", "size": 10, **query})
    return "".join(each["id"] for each in answer.json()["rooms"]) if answer.status_code == 200 else told(answer)


def test_a_case_does_what_it_states_with_its_own_resource(http: httpx.Client) -> None:
    assert http.get("/things/a", params={"kind": "room"}, headers=as_ann(http)).json()["id"] == "a"
    assert http.get("/things/d1", params={"kind": "desk"}).json()["room"] == "a"
    assert told(http.get("/things/d1", params={"kind": "room"})) == "not_found"
    assert told(http.get("/things/a", params={"kind": "room"})) == "first"
    assert told(http.get("/things/a", params={"kind": "other"})) == "forbidden"


def test_an_entity_tag_holds_where_cases_choose_what_is_read(http: httpx.Client) -> None:
    tag = http.get("/things/d1", params={"kind": "desk"}).headers["ETag"]
    again = http.get("/things/d1", params={"kind": "desk"}, headers={"If-None-Match": tag})
    assert again.status_code == 304


def test_the_checks_of_the_endpoint_come_before_those_of_the_transition(http: httpx.Client) -> None:
    bad = http.post("/notes", json={"title": "bad", "text": ""}).json()["id"]
    good = http.post("/notes", json={"title": "good", "text": ""}).json()["id"]
    assert told(http.post(f"/notes/{bad}/finish")) == "first"
    assert told(http.post(f"/notes/{good}/finish")) == "third"


def test_a_check_that_reads_no_row_is_asked_also_where_there_is_none(http: httpx.Client) -> None:
    assert told(http.post("/notes/9999/finish", params={"go": "no"})) == "not_found"
    only = "POST /all: {does: finish all note, where: note.id < 0, body: none, query: {go: {type: string}}, "
    only += (
        "check: {that: request.query.go == 'yes', else: none_of_it}, responses: {200: {n: page.total}}}\nGET /never:"
    )
    assert errors(CONTRACT.replace("GET /never:", only)) == []


def test_where_names_one_row_by_a_unique_field_or_by_each_field_of_the_key(http: httpx.Client) -> None:
    assert http.get("/slots/by-code", params={"code": "two"}).json()["hour"] == 2
    assert http.get("/slots/by-key", params={"room": "a", "hour": 1}).json()["code"] == "one"
    assert http.get("/rooms/b/slot", params={"hour": 2}).json()["code"] == "two"
    assert told(http.get("/rooms/a/slot", params={"hour": 2})) == "not_found"


def test_where_an_expression_has_no_value_no_row_is_found(http: httpx.Client) -> None:
    assert told(http.get("/slots/by-code")) == "not_found"
    assert http.get("/slots").json() == {"codes": []}


def test_of_a_list_a_where_that_names_one_row_gives_a_list(http: httpx.Client) -> None:
    assert http.get("/slots", params={"code": "two"}).json() == {"codes": ["two"]}


def test_a_where_that_names_no_row_is_an_error_that_advises_all(http: httpx.Client) -> None:
    wrong = (
        "PATCH /slots: {does: update slot, where: slot.hour > 1, body: [note], patch: merge, responses: {200: slot}}"
    )
    found = compile_document("contract.md", CONTRACT.replace("GET /never:", f"{wrong}\nGET /never:").encode())
    [error] = [each for each in found.diagnostics if each.code.severity.value == "error"]
    assert (error.code.id, "update all slot" in " ".join(error.help)) == ("NF0505", True)


def test_where_nothing_says_which_row_that_is_a_gap_and_nothing_is_done(http: httpx.Client) -> None:
    silent = "DELETE /slots: {does: delete slot, responses: {204: none}}"
    found = compile_document("contract.md", CONTRACT.replace("GET /never:", f"{silent}\nGET /never:").encode())
    assert [each.text for each in found.open_questions if "which row" in each.text] == [
        "which row `DELETE /slots` acts on"
    ]


def test_a_parameter_that_is_absent_without_a_default_takes_no_part_and_has_no_value(http: httpx.Client) -> None:
    assert rooms(http) == "abcd"
    assert http.get("/rooms", params={"must": "x"}).headers["X-Free"] == "none"
    assert http.get("/rooms", params={"must": "x", "free": 0}).headers["X-Free"] == "free"


def test_a_default_is_the_value_where_the_parameter_is_not_given_and_where_takes_part(http: httpx.Client) -> None:
    assert http.get("/rooms", params={"must": "x"}).headers["X-Least"] == "0"
    assert rooms(http, least=15) == "bcd"


def test_the_type_of_value_is_the_expressions(http: httpx.Client) -> None:
    assert rooms(http, most=15) == "ab"
    assert rooms(http, most="many") == "invalid"


def test_explode_true_repeats_and_false_splits_at_commas(http: httpx.Client) -> None:
    assert rooms(http, ids=["a", "c"]) == "ac"
    assert rooms(http, ids="a,c") == ""
    assert rooms(http, split="a,c") == "ac"
    assert rooms(http, split="") == ""


def test_required_true_is_the_parameters(http: httpx.Client) -> None:
    assert told(http.get("/rooms")) == "invalid"
    assert rooms(http, must="z") == "invalid"


def test_sorts_selects_and_expands_need_no_type(http: httpx.Client) -> None:
    assert rooms(http, sort="-seats") == "dcba"
    assert rooms(http, sort="seats") == "invalid"
    shown = http.get("/rooms", params={"must": "x", "show": "seats", "size": 1}).json()["rooms"]
    assert shown == [{"id": "a", "seats": 5}]
    opened = http.get("/rooms", params={"must": "x", "with": "desks", "size": 1}).json()["rooms"]
    assert [each["id"] for each in opened[0]["desks"]] == ["d1", "d2"]


def test_a_parameter_of_json_is_held_to_its_schema(http: httpx.Client) -> None:
    assert rooms(http, deep='{"max": 15}') == "ab"
    assert rooms(http, deep="{}") == "abcd"
    for wrong in ('{"max": "x"}', '{"other": 1}', "{", "15"):
        assert rooms(http, deep=wrong) == "invalid", wrong


def test_a_code_of_a_parameter_is_a_narrowed_condition(http: httpx.Client) -> None:
    assert rooms(http, least=-1) == "bad_least"
    assert rooms(http, most="x") == "invalid"


def test_members_of_a_free_form_object_are_asked_for_by_a_macro_of_two_variables(http: httpx.Client) -> None:
    def found(key: str) -> object:
        return http.get("/desks", params={"key": key, "size": 10}).json()["desks"]

    assert found('{"k": "v"}') == ["d1", "d3"]
    assert found('{"k": "v", "l": "w"}') == ["d3"]
    assert found('{"k": "other"}') == []
    assert found("{}") == ["d1", "d2", "d3"]


def test_pages_count_from_first_and_a_size_of_0_tells_the_total_alone(http: httpx.Client) -> None:
    first = http.get("/rooms", params={"must": "x"}).json()
    assert (first["start"], first["next"], "previous" in first, len(first["rooms"])) == (0, 3, False, 2)
    second = http.get("/rooms", params={"must": "x", "from": 3}).json()
    assert ([each["id"] for each in second["rooms"]], second["previous"], "next" in second) == (["c", "d"], 1, False)
    assert told(http.get("/rooms", params={"must": "x", "from": 0})) == "invalid"
    nothing = http.get("/rooms", params={"must": "x", "size": 0}).json()
    assert nothing == {"total": 4, "start": 0, "rooms": []}
    assert http.get("/desks", params={"page": 2}).json()["desks"] == ["d3"]


def test_page_at_repeats_all_other_parameters_and_has_no_value_on_the_last_page(http: httpx.Client) -> None:
    link = http.get("/rooms?must=x&split=a%2Cb,c&size=2").headers["Link"]
    url, _, rel = link.partition("; ")
    assert rel == 'rel="next"'
    assert urlsplit(url[1:-1]).path == "/rooms"
    assert parse_qs(urlsplit(url[1:-1]).query) == {"must": ["x"], "split": ["a,b,c"], "size": ["2"], "from": ["3"]}
    following = http.get(url[1:-1])
    assert [each["id"] for each in following.json()["rooms"]] == ["c"]
    assert "Link" not in following.headers
    assert "more" not in http.get("/desks", params={"page": 2}).json()


def test_on_change_is_given_where_a_write_changes_the_field_and_not_where_it_gives_it(http: httpx.Client) -> None:
    made = http.post("/notes", json={"title": "One", "text": "t"}).json()
    same = http.patch(f"/notes/{made['id']}", json={"title": "One"}).json()
    assert (same["slug"], same["both"]) == (made["slug"], made["both"])
    text = http.patch(f"/notes/{made['id']}", json={"text": "u"}).json()
    assert text["slug"] == made["slug"] and text["both"] != made["both"] and text["first"] == "text"
    both = http.patch(f"/notes/{made['id']}", json={"title": "Two", "text": "v"}).json()
    assert both["slug"].startswith("two-") and both["first"] == "title"


def test_const_of_an_object_with_const_alone_is_that_object(http: httpx.Client) -> None:
    assert http.post("/notes", json={"title": "c", "text": "t"}).json()["fixed"] == {"const": "x"}


def test_no_field_is_called_const() -> None:
    assert errors(CONTRACT.replace("seats: {type: integer}", "seats: {type: integer}\n    const: {type: integer}", 1))


def test_a_macros_variable_never_captures_an_argument_of_a_term(http: httpx.Client) -> None:
    """`holds(d, t)` has a macro over `x`; it is given a text, and the `x` of another macro."""
    assert http.get("/desks", params={"tag": "y"}).json()["desks"] == ["d3"]
    assert http.get("/held/d3").json() == {"each": [True, True], "two": 2}


@pytest.mark.parametrize("terms", ["again: again", "one: two\n  two: one", "f(x): g(x)\n  g(x): f(x)"])
def test_a_term_never_uses_itself(terms: str) -> None:
    assert set(errors(CONTRACT.replace("terms:\n", f"terms:\n  {terms}\n", 1))) == {"NF0324"}


def test_first_has_no_value_where_there_is_none(http: httpx.Client) -> None:
    assert http.get("/known", params={"id": "b"}).json() == {"seats": 15, "is": False}
    assert http.get("/known", params={"id": "none"}).json() == {"is": False}


@pytest.mark.parametrize("name", ["query", "path", "header", "body"])
def test_no_resource_is_called_as_a_part_of_the_request(name: str) -> None:
    more = f"{name}:\n  primary key: id\n  fields: {{id: {{type: integer, on create: serial()}}}}\nlog:\n  primary key"
    wrong = CONTRACT.replace("log:\n  primary key", more, 1).replace("log: none", f"log: none\n{name}: none")
    assert errors(wrong) == ["NF0311"]


def test_compute_that_refuses_always_needs_no_responses(http: httpx.Client) -> None:
    answer = http.get("/never")
    assert (told(answer), answer.headers["X-Why"]) == ("first", "first")


def test_a_name_with_a_literal_takes_the_longest_text_which_may_hold_colons_and_is_not_empty(
    http: httpx.Client,
) -> None:
    assert http.get("/words/a:b:loud").json() == {"loud": "A:B"}
    assert http.get("/words/:loud").json() == {"word": ":loud"}
    assert http.get("/words/a%3Aloud").json() == {"word": "a:loud"}
    assert http.get("/words/a:soft").json() == {"word": "a:soft"}


def test_a_literal_behind_a_colon_beats_a_plain_name_for_the_methods_of_its_path_alone(http: httpx.Client) -> None:
    made = http.post("/notes", json={"title": "r", "text": "t"}).json()["id"]
    assert told(http.post(f"/notes/{made}:retry")) == "illegal_transition"
    assert told(http.get(f"/notes/{made}:retry")) == "not_found"


def test_where_at_create_in_also_makes_a_row_only_if_it_holds_and_is_asked_of_each_item(http: httpx.Client) -> None:
    few = http.post("/logs", json={"texts": ["a", "skip"]}).json()["texts"]
    assert few == ["main", "a"]
    many = http.post("/logs", json={"texts": ["b", "skip", "c"]}).json()["texts"]
    assert many[2:] == ["main", "b", "c", "many"]


def test_an_effect_that_would_change_this_itself_is_an_error() -> None:
    wrong = "- {does: update log, where: log == this, sets: {text: \"'x'\"}}\n  - {does: create log, where: request"
    assert errors(CONTRACT.replace("- {does: create log, where: request", wrong, 1)) == ["NF0716"]


def test_an_array_is_appended_to_by_plus(http: httpx.Client) -> None:
    shown = [http.patch("/desks/d2", json={"tags": ["p"] * count}).json()["lists"] for count in (1, 2)]
    assert shown == [[1], [1, 2]]


def test_a_condition_that_is_shown_is_true_or_else_false(http: httpx.Client) -> None:
    assert http.get("/rooms/b", headers=as_ann(http)).json() == {"id": "b", "mine": True, "big": True}
    assert http.get("/rooms/a").json() == {"id": "a", "mine": False, "big": False}


def test_a_check_of_a_resource_is_asked_of_what_has_become(http: httpx.Client) -> None:
    assert told(http.post("/rooms", json={"id": "huge", "seats": 1000}, headers=as_ann(http))) == "huge"


def test_exactly_one_field_is_the_state() -> None:
    assert errors(CONTRACT.replace("job:   {state: true}", "job:   {state: true}\n    job2:  {state: true}"))


def test_a_name_with_a_hyphen_that_is_read_as_a_difference_is_told_how_it_is_written() -> None:
    read = (
        "GET /agent: {does: compute, request headers: {X-Agent: {type: string}}, responses: {200: {a: X}}}\nGET /never:"
    )
    wrong = CONTRACT.replace("GET /never:", read.replace("{a: X}", "{a: request.headers.X-Agent}"))
    said = compile_document("contract.md", wrong.encode()).diagnostics
    wrongs = [each.help for each in said if each.code.severity.value == "error"]
    assert wrongs == [("a name with a hyphen stands in brackets: `['X-Agent']`",)], "once"
    assert errors(CONTRACT.replace("GET /never:", read.replace("{a: X}", "{a: \"request.headers['X-Agent']\"}"))) == []


REFUSED_ROWS = """\
purpose: Counts.
resources:
  hit:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, n: {type: integer}}
    required: [n]
    check: {that: hit.n < 5, else: high}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /hits: {does: create hit, body: [n], check: {that: hit.n != 3, else: three}, responses: {201: hit}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {error: error.code, detail: error.detail}}
  codes:
    high: {status: 409, detail: "string(hit.n) + ' of ' + string(all(hit).size())"}
    three: {status: 409, detail: "string(hit.n) + ' of ' + string(all(hit).size())"}
limits: none
versioning: none
"""


def test_what_a_code_reads_of_a_check_is_what_the_check_reads(tmp_path: Path) -> None:
    """On create the new row is among the others for a check of its resource, and not yet for one of the endpoint."""
    with running(tmp_path / "service.db", REFUSED_ROWS, name="contract.yaml") as service:
        said = [service.http.post("/hits", json={"n": n}).json().get("detail") for n in (1, 3, 9, 9)]
    assert said == [None, "3 of 1", "9 of 2", "9 of 2"]
