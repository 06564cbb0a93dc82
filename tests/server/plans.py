"""A small service written as a plan by hand: notes that belong to people, who call with a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable
from ninefold.plan.authentication import LookedUp, Scheme
from ninefold.plan.limits import Limits
from ninefold.plan.operations import FilterParameter, List, Paging, Read, Sort
from ninefold.plan.problems import Condition, ErrorCode, Judge, Location, Problems
from ninefold.plan.responses import Carried, Content, EachRow, FromColumn, FromExpression, ObjectOf, Response
from ninefold.plan.routes import Admission, Blocked, Body, BodyField, Parameter, PathParameter, Served
from ninefold.plan.schema import Column, Index, Reference, Schema, Table
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.versioning import Version, Versions
from ninefold.plan.writes import Assign, Create, Delete, Precondition, ReadBack, Transition, Update
from ninefold.values import Array, Boolean, Digest, Integer, Object, Row, Text, Timestamp, Type

VARY = Carried("Vary", ("Api-Version",), "RFC 9110, section 12.5.5")

TEXT, INTEGER, TIMESTAMP, TAGS = Text(), Integer(), Timestamp(), Array(items=Text())


def member(root: str, name: str, type_: Type = TEXT) -> Select:
    return Select(Variable(root, Object()), name, type_)


CALLER = Select(member("caller", "person", Row(resource="person")), "id", TEXT, "field")
PATH_ID = member("$path", "id")
MATCH = member("$if", "match", Array(items=TEXT, nullable=True))


def columns(**types: Type) -> tuple[ResultColumn, ...]:
    return tuple(ResultColumn(name, type_) for name, type_ in types.items())


def statement(text: str, *binds: Typed, gives: tuple[ResultColumn, ...] = ()) -> Statement:
    return Statement((Piece(text, binds),), gives)


SCHEMA = Schema(
    (
        Table(
            "person",
            (Column("id", TEXT, True), Column("name", TEXT, True), Column("token", Digest(), True)),
            ("id",),
            indexes=(Index("person.token", ("token",), True),),
        ),
        Table(
            "note",
            (
                Column("id", TEXT, True),
                Column("owner", TEXT, True),
                Column("title", TEXT, True),
                Column("remark", TEXT),
                Column("stars", INTEGER),
                Column("tags", TAGS),
                Column("done", Boolean(), True),
                Column("made_at", TIMESTAMP, True),
            ),
            ("id",),
            (Reference("owner", "person", "id"),),
            (Index("note.title", ("title",), True),),
        ),
    )
)

NOTE = columns(
    id=TEXT,
    title=TEXT,
    remark=Text(nullable=True),
    stars=Integer(nullable=True),
    tags=TAGS,
    done=Boolean(),
    made_at=TIMESTAMP,
    revision=TEXT,
)
_NOTE_COLUMNS = 'note.id, note.title, note.remark, note.stars, note.tags, note.done, note.made_at, note."$revision"'
REVISION = 7

SHOWN = ObjectOf(
    (
        ("id", FromColumn(0)),
        ("title", FromColumn(1)),
        ("remark", FromColumn(2, null_shown=True)),
        ("stars", FromColumn(3)),
        ("tags", FromColumn(4)),
        ("done", FromColumn(5)),
        ("made_at", FromColumn(6)),
    )
)


def answer(status: int, content: Content | None = SHOWN, **more: Any) -> Response:
    return Response(status, None if content is None else "application/json", content, **more)


TAGGED: dict[str, Any] = {"revision": REVISION, "tag_prefix": "v1-"}


# ── What is done ──────────────────────────────────────────────────────────────────────────────────────────────

_FOUND = "FROM (SELECT 1) LEFT JOIN note ON note.id = ?"
_SEEN = "note.id IS NOT NULL AND (note.owner = ?) IS TRUE"


def judge(*conditions: tuple[Condition, str, tuple[Typed, ...]], details: Mapping[str, str] = {}) -> Judge:
    """Conditions with the SQL that is true where they fail; details of codes as SQL."""
    fails = [f"({sql})" for _, sql, _ in conditions]
    binds = [bind for _, _, each in conditions for bind in each]
    return Judge(
        Statement((Piece(f"SELECT {', '.join([*fails, *details.values()])} {_FOUND}", (*binds, PATH_ID)),)),
        tuple(condition for condition, _, _ in conditions),
        tuple(details),
    )


MISSING = (Condition("not found", "note"), f"NOT ({_SEEN})", (CALLER,))
STALE = (
    Condition("precondition failed", "note"),
    f'({_SEEN}) AND NOT (? IS NULL OR note."$revision" IN (SELECT value FROM json_each(?)))',
    (CALLER, MATCH, MATCH),
)
DONE = (Condition("check", "note", code="is_done"), f"({_SEEN}) AND note.done", (CALLER,))
TAKEN = (
    Condition("conflict", "note.title", location=Location("body", "/title", "title"), rule="unique"),
    "? AND EXISTS (SELECT 1 FROM note AS other WHERE other.title = ? AND other.id IS NOT note.id)",
    (member("$judge", "values", Boolean()), member("$new", "title")),
)

CREATE_PERSON = Create(
    resource="person",
    statement=statement(
        'INSERT INTO person (id, name, token, "$revision") VALUES (?, ?, ?, ?) RETURNING id, name',
        member("$new", "id"),
        member("$new", "name"),
        member("$new", "token", Digest()),
        member("$write", "revision"),
        gives=columns(id=TEXT, name=TEXT),
    ),
    judge=Judge(Statement((Piece("SELECT 0"),)), (Condition("conflict", "person.id"),)),
    assigns=(
        Assign("id", TEXT, otherwise=Call("uuid", [], TEXT)),
        Assign("name", TEXT, given=True),
        Assign("token", Digest(), otherwise=Call("token", [], TEXT), secret="token"),
    ),
    key=("id",),
    response=answer(
        201,
        ObjectOf(
            (("id", FromColumn(0)), ("name", FromColumn(1)), ("token", FromExpression(member("issued", "token"))))
        ),
    ),
)

CREATE_NOTE = Create(
    resource="note",
    statement=statement(
        'INSERT INTO note (id, owner, title, remark, stars, tags, done, made_at, "$revision") '
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING "
        + _NOTE_COLUMNS
        + ", (note.stars > 5) IS TRUE",
        *(member("$new", name) for name in ("id", "owner", "title", "remark")),
        member("$new", "stars", INTEGER),
        member("$new", "tags", TAGS),
        member("$new", "done", Boolean()),
        member("$new", "made_at", TIMESTAMP),
        member("$write", "revision"),
        gives=NOTE,
    ),
    judge=judge(TAKEN),
    assigns=(
        Assign("id", TEXT, otherwise=Call("uuid", [], TEXT)),
        Assign("owner", TEXT, otherwise=CALLER),
        Assign("title", TEXT, given=True),
        Assign("remark", Text(nullable=True), given=True),
        Assign("stars", Integer(nullable=True), given=True),
        Assign("tags", TAGS, given=True, otherwise=Constant([], TAGS)),
        Assign("done", Boolean(), otherwise=Constant(False, Boolean())),
        Assign("made_at", TIMESTAMP, otherwise=Variable("now", TIMESTAMP)),
    ),
    key=("id",),
    invariants=(Condition("check", "note", code="too_many_stars"),),
    response=answer(201, headers=(("Location", FromColumn(0)),), **TAGGED),
)

READ_NOTE = Read(
    resource="note",
    select=statement(f"SELECT {_NOTE_COLUMNS} FROM note WHERE id = ? AND owner = ?", PATH_ID, CALLER, gives=NOTE),
    judge=judge(MISSING),
    response=answer(200, **TAGGED),
)

CHANGE_NOTE = Update(
    resource="note",
    statement=Statement(
        (
            Piece('UPDATE note SET "$revision" = ?', (member("$write", "revision"),)),
            Piece(", title = ?", (member("$new", "title"),), "new title"),
            Piece(", remark = ?", (member("$new", "remark"),), "new remark"),
            Piece(", stars = ?", (member("$new", "stars", INTEGER),), "new stars"),
            Piece(
                ' WHERE id = ? AND owner = ? AND NOT done AND (? IS NULL OR "$revision" IN '
                "(SELECT value FROM json_each(?))) AND NOT EXISTS "
                "(SELECT 1 FROM note AS other WHERE other.title = ? AND other.id <> note.id) RETURNING "
                + _NOTE_COLUMNS,
                (PATH_ID, CALLER, MATCH, MATCH, member("$new", "title")),
            ),
        ),
        NOTE,
    ),
    judge=judge(
        MISSING, STALE, DONE, TAKEN, details={"is_done": "CASE WHEN note.done THEN 'Done: ' || note.title END"}
    ),
    assigns=tuple(
        Assign(name, type_, given=True)
        for name, type_ in (("title", TEXT), ("remark", Text(nullable=True)), ("stars", Integer(nullable=True)))
    ),
    key=("id",),
    precondition=Precondition(),
    response=answer(200, **TAGGED),
)

FINISH_NOTE = Transition(
    resource="note",
    statement=statement(
        'UPDATE note SET "$revision" = ?, done = ? WHERE id = ? AND owner = ? AND NOT done RETURNING id',
        member("$write", "revision"),
        member("$new", "done", Boolean()),
        PATH_ID,
        CALLER,
        gives=NOTE,
    ),
    judge=judge(MISSING, DONE),
    assigns=(Assign("done", Boolean(), otherwise=Constant(True, Boolean())),),
    key=("id",),
    follows=(ReadBack(statement(f"SELECT {_NOTE_COLUMNS} FROM note WHERE id = ?", member("$row", "id"), gives=NOTE)),),
    response=answer(200),
)

DELETE_NOTE = Delete(
    resource="note",
    statement=statement("DELETE FROM note WHERE id = ? AND owner = ? RETURNING 1", PATH_ID, CALLER),
    judge=judge(MISSING),
    key=("id",),
    response=answer(204, None),
)

_LIMIT = member("$list", "limit", INTEGER)

LIST_NOTES = List(
    resource="note",
    select=Statement(
        (
            Piece(f"SELECT {_NOTE_COLUMNS} FROM note WHERE owner = ?", (CALLER,)),
            Piece(" AND done = ?", (member("$filter", "done", Boolean()),), "filter done"),
            Piece(" AND made_at >= ?", (member("$filter", "since", TIMESTAMP),), "filter since"),
            Piece(" AND title > ?", (member("$list", "k0"),), "after "),
            Piece(" AND title < ?", (member("$list", "k0"),), "after -title"),
            Piece(" ORDER BY title", when="sort "),
            Piece(" ORDER BY title DESC", when="sort -title"),
            Piece(" LIMIT ?", (_LIMIT,)),
        ),
        NOTE,
    ),
    count=Statement(
        (
            Piece("SELECT count(*) FROM note WHERE owner = ?", (CALLER,)),
            Piece(" AND done = ?", (member("$filter", "done", Boolean()),), "filter done"),
            Piece(" AND made_at >= ?", (member("$filter", "since", TIMESTAMP),), "filter since"),
        ),
        columns(total=INTEGER),
    ),
    paging=Paging("cursor", 2, maximum=3, size="limit", at="cursor"),
    sorts=(
        Sort("", (1,), bound_to=("", "note", "title text")),
        Sort("-title", (1,), bound_to=("", "note", "-title text")),
    ),
    filters=(FilterParameter("done", Boolean()), FilterParameter("since", TIMESTAMP)),
    sort_parameter="sort",
    response=answer(
        200,
        ObjectOf(
            (
                ("data", EachRow(SHOWN)),
                ("next", FromExpression(member("page", "next"))),
                ("total", FromExpression(member("page", "total", INTEGER))),
            )
        ),
    ),
)

LIST_PARAMETERS = (
    Parameter("done", Boolean(), {"type": "boolean"}),
    Parameter("since", TIMESTAMP, {"type": "string", "format": "date-time"}),
    Parameter("sort", TEXT, {"type": "string", "enum": ["-title"]}),
)

# ── Where ─────────────────────────────────────────────────────────────────────────────────────────────────────

ID = PathParameter("id", TEXT, "note")
JSON = "application/json"
MERGE = "application/merge-patch+json"

_TITLE = {"type": "string", "minLength": 1, "maxLength": 20}
_PROPERTIES = {
    "title": _TITLE,
    "remark": {"type": ["string", "null"]},
    "stars": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
}
NEW_NOTE = Body(
    (JSON,),
    {"type": "object", "properties": _PROPERTIES, "required": ["title"]},
    (
        BodyField("title", ("title",), TEXT, normalise=Call("trim", [Variable("value", TEXT)], TEXT)),
        BodyField("remark", ("remark",), Text(nullable=True)),
        BodyField("stars", ("stars",), INTEGER),
        BodyField("tags", ("tags",), TAGS),
    ),
)
CHANGED_NOTE = Body(
    (JSON, MERGE),
    {"type": "object", "properties": _PROPERTIES},
    (*NEW_NOTE.fields[:3], replace(NEW_NOTE.fields[3], fixed=True)),
    merge=True,
)
NEW_PERSON = Body(
    (JSON,),
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    (BodyField("name", ("name",), TEXT),),
)


def served(key: str, *segments: str | PathParameter, who: str = "key", **more: Any) -> Served:
    operation = more.pop("operation")
    return Served(
        key=key,
        method=key.partition(" ")[0],
        segments=segments,
        admissions=(Admission(who, operation),),
        schemes=("key",) if who == "key" else (),
        **more,
    )


ROUTES = (
    served("POST /people", "people", who="anyone", operation=CREATE_PERSON, body=NEW_PERSON, offers=JSON),
    served("POST /notes", "notes", operation=CREATE_NOTE, body=NEW_NOTE, offers=JSON),
    served("GET /notes", "notes", operation=LIST_NOTES, offers=JSON, query=LIST_PARAMETERS),
    served("GET /notes/{id}", "notes", ID, operation=READ_NOTE, offers=JSON),
    served("PATCH /notes/{id}", "notes", ID, operation=CHANGE_NOTE, body=CHANGED_NOTE, offers=JSON),
    served("DELETE /notes/{id}", "notes", ID, operation=DELETE_NOTE),
    served(
        "POST /notes/{id}/finish",
        "notes",
        ID,
        "finish",
        operation=FINISH_NOTE,
        offers=JSON,
        body=Body((JSON,), {"type": "object"}, optional=True),
    ),
    Blocked(key="GET /feed", method="GET", segments=("feed",), reasons=("streams are not built yet",)),
)

# ── What is said when it goes wrong ───────────────────────────────────────────────────────────────────────────

_FIELDS = Variable("error", Object())


def _error(name: str, type_: Type = TEXT) -> FromExpression:
    return FromExpression(member("error", name, type_))


CODES: dict[str, tuple[int, tuple[str, ...]]] = {
    "no_token": (401, ("unauthenticated",)),
    "no_entry": (403, ("forbidden",)),
    "not_found": (
        404,
        (
            "not found",
            "no such path",
        ),
    ),
    "bad_method": (405, ("method not allowed",)),
    "not_json": (400, ("malformed",)),
    "invalid": (422, ("invalid",)),
    "taken": (409, ("conflict",)),
    "stale": (412, ("precondition failed",)),
    "too_large": (413, ("too large",)),
    "media_type": (415, ("unsupported media type",)),
    "not_acceptable": (406, ("not acceptable",)),
    "is_done": (409, ()),
    "too_many_stars": (409, ()),
    "old": (400, ("unknown version",)),
    "too_slow": (503, ("timed out",)),
    "busy": (503, ("unavailable",)),
    "broken": (500, ("internal",)),
}

STATUSES = {
    "no such path": 404,
    "method not allowed": 405,
    "unknown version": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "too large": 413,
    "unsupported media type": 415,
    "not acceptable": 406,
    "malformed": 400,
    "invalid": 422,
    "not found": 404,
    "precondition failed": 412,
    "check": 409,
    "conflict": 409,
    "unavailable": 503,
    "timed out": 503,
    "internal": 500,
}

PROBLEMS = Problems(
    statuses=STATUSES,
    precedence=tuple(STATUSES),
    codes=tuple(ErrorCode(name, status, said={"title": f"It is {name}"}) for name, (status, _) in CODES.items()),
    conditions={condition: name for name, (_, conditions) in CODES.items() for condition in conditions},
    media_type="application/problem+json",
    content=ObjectOf(
        (
            ("code", _error("code")),
            ("title", _error("title")),
            ("detail", _error("detail")),
            ("fields", _error("fields", Array(items=Object()))),
            ("messages", _error("messages", Object())),
        )
    ),
    messages={"required": "must be given", "all others": "is not as it should be"},
)

KEY = Scheme(
    "key",
    "authorization",
    "bearer",
    'Bearer realm="notes"',
    LookedUp(
        resource="person",
        find=statement(
            "SELECT id, name FROM person WHERE token = ?",
            member("$credential", "digest", Digest()),
            gives=columns(id=TEXT, name=TEXT),
        ),
        again=statement(
            "SELECT id, name FROM person WHERE id = ?",
            member("$row", "id", TEXT),
            gives=columns(id=TEXT, name=TEXT),
        ),
    ),
)

PLAN = ServicePlan(
    name="notes",
    title="Notes",
    schema=SCHEMA,
    routes=ROUTES,
    problems=PROBLEMS,
    schemes=(KEY,),
    limits=Limits(said={"body size": 1000}),
    versions=Versions("header", "2", "Api-Version", "2", (Version("2"), Version("1", served=False)), (VARY,)),
)
