"""The orders on Litestar and msgspec, with the standard library's sqlite3 and handlers that wait for nothing.

DATABASE=orders.db uvicorn litestar_app:app
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException, NotAuthorizedException, NotFoundException
from litestar.handlers import BaseRouteHandler
from litestar.params import Parameter

database = sqlite3.connect(os.environ["DATABASE"], isolation_level=None, check_same_thread=False)
database.execute("pragma journal_mode = wal")
database.execute("pragma synchronous = full")
database.execute("pragma foreign_keys = on")

SHOWN = "id, customer, sku, quantity, unit_price, note, status, created_at, updated_at"


class Placed(msgspec.Struct, forbid_unknown_fields=True):
    sku: Annotated[str, msgspec.Meta(pattern="^[A-Z0-9-]{3,20}$")]
    quantity: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    unit_price: Annotated[int, msgspec.Meta(ge=0, le=100_000_000)]
    note: Annotated[str, msgspec.Meta(max_length=500)] | None = None


class Shown(msgspec.Struct):
    id: str
    customer: str
    sku: str
    quantity: int
    unit_price: int
    note: str | None
    status: str
    created_at: str
    updated_at: str
    total: int


class Page(msgspec.Struct):
    data: list[Shown]
    next: str | None


def shown(row: tuple[Any, ...]) -> Shown:
    return Shown(*row, row[3] * row[4])


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def authenticated(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    kind, _, token = connection.headers.get("authorization", "").partition(" ")
    digest = hashlib.sha256(token.encode()).digest()
    found = database.execute("select id from customer where api_key = ?", (digest,)).fetchone()
    if kind.lower() != "bearer" or found is None:
        raise NotAuthorizedException(headers={"WWW-Authenticate": "Bearer"})
    connection.scope["user"] = found[0]


@post("/orders", sync_to_thread=False)
def create(data: Placed, request: Request[str, None, Any]) -> Response[Shown]:
    at, id = now(), str(uuid.uuid4())
    row = (id, request.user, data.sku, data.quantity, data.unit_price, data.note, "open", at, at)
    database.execute(f'insert into "order" ({SHOWN}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)', row)
    return Response(shown(row), status_code=201, headers={"Location": f"/orders/{id}"})


@get("/orders", sync_to_thread=False)
def orders(
    request: Request[str, None, Any],
    limit: Annotated[int, Parameter(ge=1, le=100)] = 20,
    cursor: str | None = None,
) -> Page:
    behind, binds = "", [request.user]
    if cursor is not None:
        at, _, last = cursor.partition("_")
        behind, binds = "and (created_at < ? or created_at = ? and id > ?)", [request.user, at, at, last]
    found = database.execute(
        f'select {SHOWN} from "order" where customer = ? {behind} order by created_at desc, id limit ?',
        (*binds, limit + 1),
    ).fetchall()
    page = [shown(row) for row in found[:limit]]
    return Page(page, f"{page[-1].created_at}_{page[-1].id}" if len(found) > limit else None)


@get("/orders/{id:uuid}", sync_to_thread=False)
def order(id: uuid.UUID, request: Request[str, None, Any]) -> Shown:
    found = database.execute(
        f'select {SHOWN} from "order" where id = ? and customer = ?', (str(id), request.user)
    ).fetchone()
    if found is None:
        raise NotFoundException
    return shown(found)


@post("/orders/{id:uuid}/hold", status_code=200, sync_to_thread=False)
def hold(id: uuid.UUID, request: Request[str, None, Any]) -> Shown:
    found = database.execute(
        f"""update "order" set status = 'held', updated_at = ?
            where id = ? and customer = ? and status in ('open', 'held') returning {SHOWN}""",
        (now(), str(id), request.user),
    ).fetchall()
    if found:
        return shown(found[0])
    there = database.execute('select 1 from "order" where id = ? and customer = ?', (str(id), request.user)).fetchone()
    if there is None:
        raise NotFoundException
    raise HTTPException(status_code=409)


def problem(_request: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, object]]:
    body = {"type": "about:blank", "title": error.detail, "status": error.status_code}
    return Response(body, status_code=error.status_code, headers=error.headers, media_type="application/problem+json")


app = Litestar(
    [create, orders, order, hold],
    guards=[authenticated],
    exception_handlers={HTTPException: problem},
    openapi_config=None,
)
