"""What the law once took for a breach, and the service was right: each kind in a contract of its own, and beside it
what looks like it and is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from ninefold.diff.ablate.ablate import ablate
from ninefold.diff.ablate.facts import Removal, instead, without, written
from ninefold.diff.ablate.fixed import Whole, rehearse, scripts
from ninefold.diff.ablate.law import Found
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.syntax.nodes import Document

CONTRACT = """
purpose: Keeps notes.
resources:
{resources}
states: none
endpoints:
  requests: {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
{endpoints}
authentication:
{authentication}
events: {events}
errors: {errors}
limits: none
versioning: {versioning}
"""

NOTE = """\
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, tag: {type: string}}
"""

ANYBODY = "  {schemes: none, rows: all, permissions: {all others: anyone}}"

JSON = "Content-Type: application/json\n"


def whole(
    requests: str,
    endpoints: str,
    resources: str = NOTE,
    authentication: str = ANYBODY,
    events: str = "none",
    errors: str = "none",
    versioning: str = "none",
) -> Whole:
    said = CONTRACT.format(
        resources=resources, endpoints=endpoints, authentication=authentication, events=events, errors=errors,
        versioning=versioning,
    )  # fmt: skip
    loaded = compile_document("notes.yaml", said.encode())
    assert loaded.plan is not None, [each.message for each in loaded.diagnostics]
    return rehearse(loaded, scripts((("notes.http", requests),)), {}, stands_in=False)


def found(
    of: Whole, address: str, removal: Removal = "taken out", compiler: Callable[[Document], Loaded] = compile_tree
) -> Found:
    (fact,) = (each for each in written(of.loaded.document) if each.address == address)
    (came,) = ablate(of, (fact,), (removal,), compiler)
    return came


# ── A gap that blocks in one version, and leaves out in another ───────────────────────────────────────────────

TWO_VERSIONS = """
  in: header
  name: Version
  default: "2"
  versions: {"2": {}, "1": {changes: [{change: GET /notes, was: {where: "note.tag != 'hidden'"}}]}}
  compatible: [add an endpoint]
"""


def versions() -> Whole:
    return whole(
        "GET /notes?tag=a\n\nHTTP 200\n\nGET /notes?tag=a\nVersion: 1\n\nHTTP 200\n",
        """
  POST /notes: {does: create note, body: [tag], responses: {201: note}}
  GET /notes:
    does: list note
    query: {tag: {type: string}}
    where: "!has(request.query.tag) || note.tag == request.query.tag"
    sort: [id]
    pages: none
    responses: {200: {notes: page.items}}
""",
        versioning=TWO_VERSIONS,
    )


def test_what_blocks_in_one_version_may_leave_out_in_another() -> None:
    came = found(versions(), "4 GET /notes > query", "not shown")
    assert came.outcome == "gap" and not came.breaches, came.breaches


def test_what_only_an_older_version_leaves_open_blocks_no_newer_one() -> None:
    of = whole(
        "GET /days/1\n\nHTTP 200\n",
        "  GET /days/{day}: {does: compute, path: {day: {type: integer}}, responses: {200: {day: request.path.day}}}",
        versioning="""
  in: header
  name: Version
  default: "2"
  versions: {"2": {}, "1": {changes: [{change: "GET /days/{day}", was: {path: {day: {type: string}}}}]}}
  compatible: none
""",
    )
    came = found(of, "9 versions > 1 > changes > 0 > was > path > day > type")
    assert came.outcome == "gap" and not came.breaches, came.breaches


def test_what_is_answered_as_it_was_and_is_blocked_is_found() -> None:
    of = versions()

    def served(document: Document) -> Loaded:
        return replace(compile_tree(document), planned=lambda: of.plan)

    came = found(of, "4 GET /notes > query", "not shown", served)
    assert any("a gap blocks it, and it is answered" in words for words in came.breaches), came.breaches


# ── What the operator does not give ───────────────────────────────────────────────────────────────────────────


USER = """\
  user:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, key: {type: string, secret: token, on create: token()}}
"""


def lacking() -> Whole:
    return whole(
        "GET /notes\n\nHTTP 401\n",
        "  GET /notes: {does: list note, sort: [id], pages: none, responses: {200: {notes: page.items}}}",
        NOTE + USER,
        """
  schemes:
    key: {type: apiKey, in: header, name: X-Key, matches: user.key}
    staff: {type: openIdConnect, issuer: operator.issuer, audience: notes}
  rows: {note: all}
  permissions: {GET /notes: [key, staff]}
""",
    )


def test_what_needs_a_value_that_is_not_given_is_not_served() -> None:
    came = found(lacking(), "5 permissions > GET /notes > 0")
    assert came.outcome != "no difference" and not came.breaches, came.breaches


# ── Rows that nobody sees any more ────────────────────────────────────────────────────────────────────────────

OF_ROWS = """
  POST /notes: {does: create note, body: [tag], responses: {201: note}}
  POST /marks: {does: create mark, body: [note], responses: {201: mark}}
  GET /unmarked:
    does: list note
    where: "!note.marks.exists(m, m.id > 0)"
    sort: [id]
    pages: none
    responses: {200: {notes: page.items}}
  DELETE /marks:
    does: delete all mark
    check: {that: mark.id > 1, else: first}
    responses: {200: {deleted: page.total}}
  GET /log:
    does: list event
    sort: [position]
    pages: {by: cursor, default: 1, maximum: 1, at: after}
    responses: {200: {rows: "page.items.map(e, e.resource + e.row)"}}
"""


TOLD = f"""\
POST /notes
{JSON}
{{"tag": "a"}}

POST /notes
{JSON}
{{"tag": "b"}}

POST /marks
{JSON}
{{"note": 1}}

HTTP 201

GET /unmarked

HTTP 200

DELETE /marks

HTTP 409

GET /log

HTTP 200
"""


def unseen() -> Whole:
    return whole(
        TOLD,
        OF_ROWS,
        NOTE
        + """\
  mark:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      note: {references: note, type: integer, inverse: marks, on delete: cascade}
""",
        """
  schemes: none
  rows: {note: {anyone: note.tag == 'a'}, mark: {anyone: true}, event: {anyone: true}}
  unseen rows: not found
  permissions: {all others: anyone}
""",
        """
  kinds: {made: {upon: create note, payload: note}, marked: {upon: create mark, payload: mark}}
  delivery: {stream: server-sent events}
  kept: all
""",
        "{error shape: none, codes: {first: {status: 409}}}",
    )


@pytest.mark.parametrize(
    "address",
    [
        # Others are listed, since what leaves them out is not seen; and of no rows none refuses what is done to all.
        "5 rows > mark",
        # A page that has room shows what came on the next.
        "5 rows > note",
    ],
)
def test_what_comes_of_fewer_rows_is_not_more(address: str) -> None:
    came = found(unseen(), address, "none")
    assert came.outcome == "what remains says" and not came.breaches, came.breaches


def test_rows_that_are_seen_by_no_rule_are_found() -> None:
    of = unseen()

    def seen_by_all(document: Document) -> Loaded:
        (rule,) = (each for each in written(document) if each.address == "5 rows > note")
        is_none = document == without(of.loaded.document, rule, "none")
        return compile_tree(instead(document, rule, "all") if is_none else document)

    came = found(of, "5 rows > note", "none", seen_by_all)
    assert any("somebody may do or see more" in words for words in came.breaches), came


# ── A type beside a reference, and a word of a schema ─────────────────────────────────────────────────────────

REFERRING = NOTE.replace(
    "string}}", 'string}, above: {references: note, type: [integer, "null"], on delete: set null}}'
)

PATCHED = """
  POST /notes: {does: create note, body: [tag], responses: {201: note}}
  PATCH /notes/{id}: {does: update note, body: [above], patch: json-patch, responses: {200: note}}
"""

EDIT = f"""\
POST /notes
{JSON}
{{"tag": "a"}}

HTTP 201

PATCH /notes/1
{JSON}
[{{"op": "replace", "path": "/above", "value": 1}}]

HTTP 200
"""


def referring() -> Whole:
    return whole(EDIT, PATCHED, REFERRING)


def test_the_type_of_a_reference_follows_from_it() -> None:
    came = found(referring(), "2 note > fields > above > type")
    assert came.outcome != "no difference" and not came.breaches, came.breaches


def test_what_does_not_follow_from_a_reference_is_found() -> None:
    address = "2 note > fields > above > type"

    def untyped(document: Document) -> Loaded:
        loaded = compile_tree(document)
        assert loaded.plan is not None
        is_there = any(each.address == address for each in written(document))
        left = tuple(each for each in loaded.plan.routes if is_there or each.method == "POST")
        plan = msgspec.structs.replace(loaded.plan, routes=left)
        return replace(loaded, planned=lambda: plan)

    came = found(referring(), address, "taken out", untyped)
    assert any("no gap says that it is missing" in words for words in came.breaches), came


@pytest.mark.parametrize(("word", "value"), [("pattern", '"^[0-9]+$"'), ("maxLength", "3")])
def test_what_a_path_gives_is_refused_by_a_word(word: str, value: str) -> None:
    of = whole(
        f'PUT /notes/abcd\n{JSON}\n{{"tag": "a"}}\n\nHTTP 422\n',
        """
  PUT /notes/{id}:
    does: put note
    body: [tag]
    responses: {created: {201: note}, replaced: {200: note}, unchanged: {200: note}}
""",
        NOTE.replace("{type: integer, on create: serial()}", f"{{type: string, {word}: {value}}}"),
    )
    came = found(of, f"2 note > fields > id > {word}")
    assert came.outcome == "no longer refused" and not came.breaches, came.breaches


# ── What is no secret any more ────────────────────────────────────────────────────────────────────────────────


def hidden() -> Whole:
    return whole(
        f"""\
POST /users
{JSON}
{{"name": "ada", "word": "long forgotten"}}

HTTP 201

POST /users
{JSON}
{{"name": "ada", "word": "well remembered"}}

HTTP 409
""",
        "  POST /users: {does: create user, body: [name, word], responses: {201: user}}",
        """\
  user:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      name: {type: string, unique: true}
      word: {type: string, minLength: 8, secret: password}
    required: [name, word]
""",
    )


def test_what_is_no_secret_any_more_is_read_like_any_other() -> None:
    came = found(hidden(), "2 user > fields > word > secret")
    assert came.outcome == "what remains says" and not came.breaches, came.breaches


# ── A stream that is had over WebSocket alone, and a part that is none ────────────────────────────────────────


def test_what_asks_for_an_upgrade_has_its_causes() -> None:
    of = whole(
        "GET /events\n\nHTTP 200\n",
        """
  POST /notes: {does: create note, body: [tag], responses: {201: note}}
  GET /events: {does: stream event, responses: {200: stream}}
""",
        events="""
  kinds: {made: {upon: create note, payload: note}}
  delivery: {stream: [server-sent events, websocket]}
  kept: all
""",
    )
    came = found(of, "6 delivery > stream > 0")
    assert came.outcome == "what remains says" and not came.breaches, came.breaches


def test_a_part_that_is_none_says_so_of_each_of_its_lines() -> None:
    of = whole(
        "GET /notes\n\nHTTP 200\n",
        "  GET /notes: {does: list note, sort: [id], pages: none, responses: {200: {notes: page.items}}}",
    )
    came = found(of, "4 GET /notes > pages")
    assert came.outcome == "no difference" and not came.breaches, came.breaches


# ── What a version leads to ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("removal", ["taken out", "not shown"])
def test_what_a_version_leads_to_is_no_matter_of_the_default(removal: Removal) -> None:
    of = whole(
        "GET /1/notes\n\nHTTP 200\n",
        "  GET /notes: {does: list note, sort: [id], pages: none, responses: {200: {notes: page.items}}}",
        versioning="""
  in: path
  default: "2"
  versions: {"2": {}, "1": {deprecated: "2026-01-01", changes: none}}
  compatible: none
""",
    )
    came = found(of, "9 default", removal)
    assert came.outcome == "gap" and not came.breaches, came.breaches
