"""`put` and `delete` with outcomes, sentence by sentence: each test has the name of what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.events.service import Running, running
from tests.parts import contract, told

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

RESOURCES = """
    person:
      primary key: id
      fields:
        id:     {type: integer, on create: serial()}
        name:   {type: string, unique: true}
        role:   {type: string}
        token:  {type: string, secret: token, on create: token()}
    sheet:
      primary key: name
      fields:
        name:   {type: string, pattern: '^[a-z]+$'}
        text:   {type: [string, "null"]}
        grade:  {type: integer, on create: 1}
        kept:   {type: string, on create: "'as it was'"}
        made:   {type: string, format: date-time, on create: now}
        nonce:  {type: string, on create: random(12)}
        edits:  {type: integer, on create: 0, on change: sheet.edits + 1}
        more:   {type: object, additionalProperties: {type: number}}
        word:   {type: string, secret: password}
        other:  {type: integer, unique: true}
        owner:  {references: person, on create: caller.person}
    trail:
      primary key: id
      fields:
        id:     {type: integer, on create: serial()}
        text:   {type: string}
        was:    {type: [integer, "null"]}
    count:
      primary key: name
      fields:
        name:   {type: string}
        many:   {type: integer, on create: 1}
        writes: {type: integer, on create: 0, on change: count.writes + 1}
    ticket:
      primary key: id
      fields:
        id:     {type: string, on create: uuid()}
        code:   {type: string, unique: true}
        shelf:  {type: string}
        place:  {type: integer}
        note:   {type: string}
      unique: [[shelf, place]]
    number:
      primary key: id
      fields:
        id:     {type: integer, on create: serial()}
        note:   {type: string}
    task:
      primary key: name
      fields:
        name:   {type: string}
        state:  {state: true}
        note:   {type: string}
    """

ENDPOINTS = """
    POST /people: {does: create person, body: [name, role], responses: {201: {id: person.id, token: issued.token}}}
    GET /sheets/{name}: {does: read sheet, responses: {200: sheet}}
    PUT /counts/{name}: {does: put count, body: [many], responses: {replaced: {200: none}}}
    GET /trails: {does: list trail, sort: [id], pages: none, responses: {200: {all: "page.items.map(t, t.text)"}}}
    GET /counts/{name}: {does: read count, responses: {200: [count.many, count.writes]}}
    PUT /all/{name}:
      does: put sheet
      body: [text, grade]
      also: {does: create trail, sets: {text: "'put ' + this.name"}}
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /created/{name}: {does: put sheet, body: [text, grade], responses: {created: {201: sheet}}}
    PUT /unchanged/{name}: {does: put sheet, body: [text, grade], responses: {unchanged: {202: sheet}}}
    PUT /replaced/{name}:
      does: put sheet
      body: [text, grade]
      also: {does: create trail, sets: {text: "'replaced ' + this.name"}}
      responses: {replaced: {200: sheet}}
    PUT /ensured/{name}:
      does: put sheet
      body: [text, grade]
      responses: {created or unchanged: {200: sheet}}
    PUT /upserted/{name}:
      does: put sheet
      body: [text, grade]
      also: {does: create trail, sets: {text: "'upserted ' + this.name"}}
      responses: {created: {201: sheet}, replaced: {200: sheet}}
    PUT /known/{name}:
      does: put sheet
      body: [text, grade]
      responses: {replaced or unchanged: {200: sheet}}
    PUT /stamped/{name}:
      does: put sheet
      body: [text, made, nonce]
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /more/{name}:
      does: put sheet
      body: [more]
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /secret/{name}:
      does: put sheet
      body: [word]
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /secret-ensured/{name}:
      does: put sheet
      body: [word]
      responses: {created: {201: sheet}, unchanged: {202: sheet}}
    PUT /counted/{name}:
      does: put sheet
      body: none
      sets: {grade: sheet.grade + 1}
      responses: {replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /other/{name}:
      does: put sheet
      body: [other]
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /checked/{name}:
      does: put sheet
      body: [grade]
      check:
      - {that: sheet.grade < 9, else: steep}
      - {that: "!has(before.sheet) || before.sheet.grade < 5", else: was_steep}
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /mine/{name}:
      does: put sheet
      body: [text, owner]
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /free/{name}:
      does: put sheet
      body: [text, grade]
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /keyed/{name}:
      does: put sheet
      body: [text]
      idempotency key: optional
      responses: {created: {201: sheet}, replaced: {200: sheet}, unchanged: {202: sheet}}
    PUT /tagged/{name}:
      does: put sheet
      body: [text]
      etag: true
      responses: {created: {201: sheet}, unchanged: {202: sheet}}
    GET /tagged/{name}: {does: read sheet, etag: true, responses: {200: sheet}}
    DELETE /plain/{name}: {does: delete sheet, responses: {204: none}}
    DELETE /either/{name}:
      does: delete sheet
      also: {does: create trail, sets: {text: "'deleted ' + this.name"}}
      responses: {deleted or absent: {204: none}}
    DELETE /graded/{name}:
      does: delete sheet
      responses: {deleted: {204: none}, absent: {200: none}}
    DELETE /tagged/{name}: {does: delete sheet, etag: true, responses: {deleted or absent: {204: none}}}
    POST /trails:
      does: create trail
      body: [text]
      also: {does: put count, sets: {name: this.text, many: 1}}
      responses: {201: trail}
    PUT /tickets/{id}:
      does: put ticket
      body: [code, shelf, place, note]
      responses: {created: {201: ticket}, replaced: {200: ticket}, unchanged: {202: ticket}}
    PUT /tickets-by-code/{code}:
      does: put ticket
      body: [id, note]
      responses: {created: {201: ticket}, replaced: {200: ticket}, unchanged: {202: ticket}}
    PUT /tickets-by-body:
      does: put ticket
      body: [code, shelf, place, note]
      responses: {created: {201: ticket}, replaced: {200: ticket}, unchanged: {202: ticket}}
    PUT /tickets-by-place:
      does: put ticket
      body: [shelf, place, note]
      responses: {created: {201: ticket}, replaced: {200: ticket}, unchanged: {202: ticket}}
    POST /numbers: {does: create number, body: [note], responses: {201: number}}
    PUT /numbers/{id}: {does: put number, body: [note], responses: {replaced: {200: number}}}
    POST /tasks: {does: create task, body: [name], responses: {201: task}}
    POST /tasks/{name}/drop: {does: drop task, body: none, responses: {200: none}}
    PUT /tasks/{name}: {does: put task, body: [note], responses: {created: {201: task}, replaced: {200: task}}}
    GET /events: {does: list event, sort: [time], pages: none, responses: {200: {kinds: "page.items.map(e, e.kind)"}}}
    """

CALLERS = """
    schemes: {key: {type: http, scheme: bearer, matches: person.token}}
    unseen rows: not found
    rows:
      person: all
      sheet:  {key: "sheet.owner == caller.person || caller.person.role == 'boss'", anyone: true}
      trail:  all
      count:  all
      ticket: all
      number: all
      task:   all
      event:  all
    permissions:
      PUT /mine/{name}: {key: "sheet.text != 'locked'"}
      DELETE /either/{name}: key
      DELETE /graded/{name}: {key: "sheet.grade < 5"}
      all others: [key, anyone]
    """

EVENTS = """
    kinds:
      sheet.made:    {upon: create sheet, payload: {name: sheet.name}}
      sheet.changed: {upon: update sheet, payload: {name: sheet.name}}
      sheet.gone:    {upon: delete sheet, payload: {name: sheet.name}}
    delivery: not shown
    kept: P1D
    """

CONTRACT = contract(
    RESOURCES,
    ENDPOINTS,
    states="""
    person: none
    sheet: none
    trail: none
    count: none
    ticket: none
    number: none
    task: {initial: open, states: [open, dropped], gone: [dropped], transitions: {drop: {from: open, to: dropped}}}
    """,
    callers=CALLERS,
    events=EVENTS,
    limits="idempotency keys kept: PT1H",
    codes="""
    steep:     {status: 409}
    was_steep: {status: 409}
    """,
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("put") / "service.db", CONTRACT) as served:
        yield served


def put(service: Running, path: str, by: dict[str, str] | None = None, **body: object) -> httpx.Response:
    return service.http.put(path, json=body, headers=by or {})


def sheet(service: Running, name: str) -> dict[str, object]:
    found: dict[str, object] = service.http.get(f"/sheets/{name}").json()
    return found


def trail(service: Running) -> list[str]:
    found: list[str] = service.http.get("/trails").json()["all"]
    return found


def events(service: Running) -> list[str]:
    found: list[str] = service.http.get("/events").json()["kinds"]
    return found


def test_not_there_is_created(service: Running) -> None:
    assert told(put(service, "/all/notthere", text="a")) == 201
    assert sheet(service, "notthere")["text"] == "a"


def test_there_and_the_same_is_unchanged(service: Running) -> None:
    assert told(put(service, "/all/same", text="a", grade=2)) == 201
    assert told(put(service, "/all/same", text="a", grade=2)) == 202


def test_there_and_different_is_replaced(service: Running) -> None:
    assert told(put(service, "/all/differs", text="a", grade=2)) == 201
    assert told(put(service, "/all/differs", text="b", grade=2)) == 200
    assert sheet(service, "differs")["text"] == "b"


def test_a_field_that_the_body_names_and_the_request_leaves_out_takes_its_on_create_or_no_value(
    service: Running,
) -> None:
    put(service, "/all/leaves", text="a", grade=7)
    shown = put(service, "/all/leaves").json()
    assert (shown["text"], shown["grade"]) == (None, 1)


def test_fields_that_the_body_does_not_name_keep_theirs(service: Running) -> None:
    made = put(service, "/all/keeps", text="a").json()
    shown = put(service, "/all/keeps", text="b").json()
    assert {key: made[key] for key in ("kept", "made", "nonce")} == {
        key: shown[key] for key in ("kept", "made", "nonce")
    }


def test_created_without_an_answer_is_not_found(service: Running) -> None:
    for path in ("/unchanged/nobody", "/replaced/nobody", "/known/nobody"):
        assert told(put(service, path, text="a")) == "not_found"
    assert told(service.http.get("/sheets/nobody")) == "not_found"


def test_unchanged_without_an_answer_is_replaced_written_with_on_change_events_and_also(service: Running) -> None:
    for path in ("/replaced/again", "/upserted/again"):
        put(service, "/all/again", text="a", grade=1)
        edits, seen, told_of = sheet(service, "again")["edits"], len(events(service)), len(trail(service))
        assert told(put(service, path, text="a", grade=1)) == 200
        assert sheet(service, "again")["edits"] == edits + 1  # type: ignore[operator]
        assert events(service)[seen:] == ["sheet.changed"]
        assert trail(service)[told_of:] == [f"{path.split('/')[1]} again"]


def test_unchanged_is_a_conflict_where_neither_it_nor_replaced_has_an_answer(service: Running) -> None:
    assert told(put(service, "/created/once", text="a")) == 201
    assert told(put(service, "/created/once", text="a")) == "conflict"


def test_replaced_without_an_answer_is_different_where_unchanged_has_one(service: Running) -> None:
    assert told(put(service, "/ensured/diff", text="a")) == 200
    assert told(put(service, "/ensured/diff", text="b")) == "different"
    assert told(put(service, "/unchanged/diff", text="b")) == "different"
    assert sheet(service, "diff")["text"] == "a"


def test_replaced_without_an_answer_is_else_a_conflict(service: Running) -> None:
    assert told(put(service, "/created/twice", text="a")) == 201
    assert told(put(service, "/created/twice", text="b")) == "conflict"
    assert sheet(service, "twice")["text"] == "a"


def test_in_also_all_three_outcomes_are_good(service: Running) -> None:
    for _ in range(2):
        assert service.http.post("/trails", json={"text": "also"}).status_code == 201
    assert service.http.get("/counts/also").json() == [1, 0]
    service.http.put("/counts/also", json={"many": 5})
    assert service.http.get("/counts/also").json() == [5, 1]
    assert service.http.post("/trails", json={"text": "also"}).status_code == 201
    assert service.http.get("/counts/also").json() == [1, 2]


def test_upon_put_is_an_error() -> None:
    found = compile_document("contract.md", CONTRACT.replace("upon: update sheet", "upon: put sheet").encode())
    [error] = [each for each in found.diagnostics if each.code.severity.value == "error"]
    assert "put" in error.message


def test_outcomes_with_one_answer_share_a_key(service: Running) -> None:
    assert [told(put(service, "/ensured/shared", text="a")) for _ in range(2)] == [200, 200]
    assert [told(service.http.delete("/tagged/shared")) for _ in range(2)] == [204, 204]


def test_delete_with_plain_statuses_means_deleted_alone(service: Running) -> None:
    put(service, "/all/plain")
    assert [told(service.http.delete("/plain/plain")) for _ in range(2)] == [204, "not_found"]


def test_checks_read_the_row_as_it_becomes_and_before_as_it_was(service: Running) -> None:
    assert told(put(service, "/checked/steep", grade=9)) == "steep"
    assert told(put(service, "/checked/steep", grade=5)) == 201
    assert told(put(service, "/checked/steep", grade=2)) == "was_steep"
    assert told(put(service, "/checked/steep", grade=9)) == "steep"


def test_checks_are_asked_of_unchanged_too(service: Running) -> None:
    assert told(put(service, "/all/unchanged", grade=10)) == 201
    assert told(put(service, "/checked/unchanged", grade=10)) == "steep"


def test_the_permission_is_asked_of_the_row_as_it_was_where_it_is_there(service: Running) -> None:
    ann = service.person("Permitted")
    assert told(put(service, "/mine/permitted", ann, text="locked")) == "forbidden"
    assert told(put(service, "/mine/permitted", ann, text="open")) == 201
    assert told(put(service, "/mine/permitted", ann, text="locked")) == 200
    assert told(put(service, "/mine/permitted", ann, text="open")) == "forbidden"


def test_a_row_that_is_there_and_not_seen_is_what_unseen_rows_says_also_where_created_has_an_answer(
    service: Running,
) -> None:
    ann, bob = service.person("Ann"), service.person("Bob")
    assert told(put(service, "/mine/anns", ann, text="a")) == 201
    assert told(put(service, "/mine/anns", bob, text="a")) == "not_found"


def test_no_row_rule_is_asked_of_a_row_that_is_made(service: Running) -> None:
    """Decision 0085: whether a row may be made is a question of permissions."""
    ann, bob = service.person("Giver"), service.person("Taker")
    [(owner,)] = service.rows("SELECT id FROM person WHERE name = 'Taker'")
    assert told(put(service, "/mine/given", ann, text="a", owner=owner)) == 201
    assert told(put(service, "/mine/given", ann, text="a", owner=owner)) == "not_found"
    assert told(put(service, "/mine/given", bob, text="a", owner=owner)) == 202


def test_of_unchanged_no_also_is_done_no_event_arises_and_no_on_change_is_given(service: Running) -> None:
    put(service, "/all/still", text="a", grade=1)
    edits, seen, told_of = sheet(service, "still")["edits"], len(events(service)), len(trail(service))
    assert told(put(service, "/all/still", text="a", grade=1)) == 202
    assert (sheet(service, "still")["edits"], len(events(service)), len(trail(service))) == (edits, seen, told_of)


def test_created_is_an_event_of_create_and_replaced_of_update(service: Running) -> None:
    seen = len(events(service))
    for text in ("a", "a", "b"):
        put(service, "/all/event", text=text)
    assert events(service)[seen:] == ["sheet.made", "sheet.changed"]


def test_what_is_new_each_time_makes_no_difference(service: Running) -> None:
    made = put(service, "/stamped/new", text="a").json()
    again = put(service, "/stamped/new", text="a")
    assert (told(again), again.json()) == (202, made)


def test_what_is_new_each_time_is_not_made_again_for_a_field_that_the_request_leaves_out(service: Running) -> None:
    made = put(service, "/stamped/left", text="a").json()
    changed = put(service, "/stamped/left", text="b")
    assert told(changed) == 200
    assert (changed.json()["made"], changed.json()["nonce"]) == (made["made"], made["nonce"])


def test_a_secret_that_the_request_gives_makes_a_difference_always(service: Running) -> None:
    assert told(put(service, "/secret/secret", word="correct horse")) == 201
    assert told(put(service, "/secret/secret", word="correct horse")) == 200
    assert told(put(service, "/secret/secret")) == 200  # it has no value any more
    assert told(put(service, "/secret/secret")) == 202
    assert told(put(service, "/secret-ensured/secret", word="correct horse")) == "different"
    assert told(put(service, "/secret-ensured/secret")) == 202


def test_sets_that_read_the_row_read_it_as_it_was(service: Running) -> None:
    put(service, "/all/counted", grade=3)
    assert put(service, "/counted/counted").json()["grade"] == 4
    assert put(service, "/counted/counted").json()["grade"] == 5


def test_objects_are_equal_whatever_the_order_of_their_members_and_numbers_by_value(service: Running) -> None:
    assert told(put(service, "/more/objects", more={"a": 1, "b": 2.5})) == 201
    assert told(put(service, "/more/objects", more={"b": 2.5, "a": 1.0})) == 202
    assert told(put(service, "/more/objects", more={"b": 2.5, "a": 1.5})) == 200


def test_the_row_is_found_by_the_first_key_of_which_all_values_are_at_hand(service: Running) -> None:
    first = put(service, "/tickets-by-body", code="k", shelf="s", place=1).json()
    by_code = put(service, "/tickets-by-body", code="k", shelf="t", place=1)
    assert (told(by_code), by_code.json()["id"]) == (200, first["id"])
    by_place = put(service, "/tickets-by-place", shelf="t", place=1, note="n")
    assert (told(by_place), by_place.json()["id"]) == (200, first["id"])


def test_values_that_the_path_names_come_before_others(service: Running) -> None:
    one = put(service, "/tickets-by-code/path", note="a").json()
    other = "0b2f4a3e-0000-4000-8000-000000000001"
    assert told(put(service, f"/tickets/{other}", code="elsewhere")) == 201
    answer = put(service, "/tickets-by-code/path", id=other, note="b")
    assert told(answer) == "conflict"
    assert put(service, "/tickets-by-code/path", id=one["id"], note="b").json()["id"] == one["id"]


def test_a_value_of_the_path_that_breaks_its_schema_is_invalid_where_created_has_an_answer_else_not_found(
    service: Running,
) -> None:
    assert told(put(service, "/all/B1", text="a")) == "invalid"
    assert told(put(service, "/ensured/B1", text="a")) == "invalid"
    assert told(put(service, "/replaced/B1", text="a")) == "not_found"
    assert told(put(service, "/known/B1", text="a")) == "not_found"


def test_a_row_in_a_gone_state_is_gone(service: Running) -> None:
    service.http.post("/tasks", json={"name": "t"})
    assert told(put(service, "/tasks/t", note="a")) == 200
    service.http.post("/tasks/t/drop")
    assert told(put(service, "/tasks/t", note="b")) == "gone"


def test_created_is_an_error_where_the_row_is_found_by_what_serial_gives() -> None:
    stated = "PUT /numbers/{id}: {does: put number, body: [note], responses: {replaced: {200: number}}}"
    assert stated in CONTRACT
    wrong = CONTRACT.replace(stated, stated.replace("{replaced:", "{created or replaced:"))
    found = compile_document("contract.md", wrong.encode())
    [error] = [each for each in found.diagnostics if each.code.severity.value == "error"]
    assert "a number that the service gives" in error.message


def test_where_uuid_gives_the_key_the_value_of_the_path_stands_in_its_place(service: Running) -> None:
    id = "0b2f4a3e-0000-4000-8000-0000000000aa"
    made = put(service, f"/tickets/{id}", code="uuid")
    assert (told(made), made.json()["id"]) == (201, id)
    assert told(put(service, f"/tickets/{id}", code="uuid")) == 202


def test_if_match_without_a_row_and_if_none_match_with_one_fail_before_the_outcome(service: Running) -> None:
    assert told(put(service, "/tagged/tags", {"If-Match": "*"}, text="a")) == "precondition_failed"
    assert told(put(service, "/tagged/tags", {"If-None-Match": "*"}, text="a")) == 201
    assert told(put(service, "/tagged/tags", {"If-None-Match": "*"}, text="a")) == "precondition_failed"
    assert told(put(service, "/tagged/tags", text="b")) == "different"
    assert told(put(service, "/tagged/tags", {"If-None-Match": "*"}, text="b")) == "precondition_failed"


def test_of_two_at_once_one_is_created_and_the_other_is_judged_after_it(service: Running) -> None:
    with ThreadPoolExecutor(8) as pool:
        same = list(pool.map(lambda _: told(put(service, "/all/race", text="a", grade=1)), range(16)))
        other = list(pool.map(lambda n: told(put(service, "/all/racing", text=str(n), grade=1)), range(16)))
    assert sorted(map(str, same)) == ["201"] + ["202"] * 15
    assert sorted(map(str, other)) == ["200"] * 15 + ["201"]


def test_another_unique_value_that_is_taken_is_a_conflict(service: Running) -> None:
    assert told(put(service, "/other/a", other=7)) == 201
    assert told(put(service, "/other/b", other=7)) == "conflict"
    assert told(put(service, "/other/b", other=8)) == 201
    assert told(put(service, "/other/b", other=7)) == "conflict"


def test_a_kept_idempotency_key_gives_the_first_answer_again_outcome_and_all(service: Running) -> None:
    key = {"Idempotency-Key": "k1"}
    first = put(service, "/keyed/key", key, text="a")
    assert told(first) == 201
    assert told(put(service, "/keyed/key", text="b")) == 200
    again = put(service, "/keyed/key", key, text="a")
    assert (again.status_code, again.json()) == (201, first.json())
    assert sheet(service, "key")["text"] == "b"


def test_of_delete_no_row_or_one_that_the_caller_may_not_see_is_absent(service: Running) -> None:
    ann, bob = service.person("Owner"), service.person("Other")
    assert told(put(service, "/mine/seen", ann, text="a")) == 201
    assert told(service.http.delete("/graded/nowhere", headers=bob)) == 200
    assert told(service.http.delete("/graded/seen", headers=bob)) == 200
    assert told(service.http.get("/sheets/seen", headers=ann)) == 200
    assert told(service.http.delete("/graded/seen", headers=ann)) == 204


def test_of_what_is_absent_conditions_of_the_permission_are_not_asked_but_the_kind_of_caller_is(
    service: Running,
) -> None:
    ann, bob = service.person("Steep"), service.person("Blind")
    assert told(put(service, "/mine/graded", ann, text="a")) == 201
    assert told(put(service, "/all/graded", ann, text="a", grade=7)) == 200
    assert told(service.http.delete("/graded/graded")) == "unauthenticated"
    assert told(service.http.delete("/graded/nowhere")) == "unauthenticated"
    assert told(service.http.delete("/graded/graded", headers=ann)) == "forbidden"
    assert told(service.http.delete("/graded/graded", headers=bob)) == 200


def test_of_what_is_absent_also_and_events_do_not_follow(service: Running) -> None:
    boss = service.person("Boss", "boss")
    put(service, "/all/follows")
    for expected in ((["sheet.gone"], ["deleted follows"]), ([], [])):
        seen, told_of = len(events(service)), len(trail(service))
        assert told(service.http.delete("/either/follows", headers=boss)) == 204
        assert (events(service)[seen:], trail(service)[told_of:]) == expected


def test_if_match_of_what_is_absent_fails(service: Running) -> None:
    assert told(service.http.delete("/tagged/nothing", headers={"If-Match": "*"})) == "precondition_failed"
    assert told(service.http.delete("/tagged/nothing")) == 204


def test_absent_at_delete_all_is_an_error() -> None:
    more = "DELETE /everything: {does: delete all sheet, responses: {deleted or absent: {204: none}}}\nGET /events:"
    found = compile_document("contract.md", CONTRACT.replace("GET /events:", more).encode())
    assert [each.code.id for each in found.diagnostics if each.code.severity.value == "error"] == ["NF0581"]
