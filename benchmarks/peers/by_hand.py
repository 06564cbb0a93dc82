"""The orders in Python, as quick as they can be written by hand: what nothing that is made in Python is likely to pass.

DATABASE=orders.db PORT=8080 python by_hand.py
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Annotated, Any

import apsw
import httptools
import msgspec
import uvloop

database = apsw.Connection(os.environ["DATABASE"])
for setting in ("journal_mode = wal", "synchronous = full", "foreign_keys = on", "mmap_size = 268435456"):
    database.pragma(*setting.split(" = "))
database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
cursor = database.cursor()

SHOWN = "id, customer, sku, quantity, unit_price, note, status, created_at, updated_at"
ONE = f'select {SHOWN} from "order" where id = ? and customer = ?'
PAGE = f'select {SHOWN} from "order" where customer = ? %s order by created_at desc, id limit ?'
FIRST, NEXT = PAGE % "", PAGE % "and (created_at < ? or created_at = ? and id > ?)"
PLACE = f'insert into "order" ({SHOWN}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)'
HOLD = f"""update "order" set status = 'held', updated_at = ?
    where id = ? and customer = ? and status in ('open', 'held') returning {SHOWN}"""

Answer = tuple[str, bytes, bytes]
"""Status, further header lines, and body."""


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


encode, decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(Placed).decode
customers: dict[bytes, str] = {}
"""By their tokens. Nothing here changes a customer."""


def shown(row: tuple[Any, ...]) -> Shown:
    return Shown(*row, row[3] * row[4])


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def problem(status: str, more: bytes = b"content-type: application/problem+json\r\n") -> Answer:
    return status, more, encode({"type": "about:blank", "title": status[4:], "status": int(status[:3])})


def read(customer: str, id: str) -> Answer:
    found = cursor.execute(ONE, (id, customer)).fetchone()
    return problem("404 Not Found") if found is None else ("200 OK", JSON, encode(shown(found)))


def orders(customer: str, behind: str | None, limit: int = 20) -> Answer:
    if behind is None:
        found = cursor.execute(FIRST, (customer, limit + 1)).fetchall()
    else:
        at, _, last = behind.partition("_")
        found = cursor.execute(NEXT, (customer, at, at, last, limit + 1)).fetchall()
    page = [shown(row) for row in found[:limit]]
    last_shown = f"{page[-1].created_at}_{page[-1].id}" if len(found) > limit else None
    return "200 OK", JSON, encode(Page(page, last_shown))


def create(customer: str, placed: Placed) -> Answer:
    at, id = now(), str(uuid.uuid4())
    row = (id, customer, placed.sku, placed.quantity, placed.unit_price, placed.note, "open", at, at)
    cursor.execute(PLACE, row)
    return "201 Created", JSON + b"location: /orders/%b\r\n" % id.encode(), encode(shown(row))


def hold(customer: str, id: str) -> Answer:
    found = cursor.execute(HOLD, (now(), id, customer)).fetchall()
    if found:
        return "200 OK", JSON, encode(shown(found[0]))
    there = cursor.execute(ONE, (id, customer)).fetchone()
    return problem("404 Not Found") if there is None else problem("409 Conflict")


JSON = b"content-type: application/json\r\n"


class Writes:
    """What one turn of the loop has to write: one transaction, answered when it is committed."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Connection, Callable[[], Answer]]] = []

    def add(self, connection: Connection, work: Callable[[], Answer]) -> None:
        if not self.waiting:
            asyncio.get_running_loop().call_soon(self.commit)
        self.waiting.append((connection, work))

    def commit(self) -> None:
        taken, self.waiting = self.waiting, []
        cursor.execute("begin immediate")
        answers = [(connection, work()) for connection, work in taken]
        cursor.execute("commit")
        for connection, answer in answers:
            connection.answer(answer)


writes = Writes()


class Dates:
    """The line of the header Date, made once a second."""

    second, line = 0, b""

    def now(self) -> bytes:
        if (second := int(time.time())) != self.second:
            self.second, self.line = second, b"date: %b\r\n" % formatdate(second, usegmt=True).encode()
        return self.line


dates = Dates()


class Connection(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self.transport, self.parser = transport, httptools.HttpRequestParser(self)
        self.url, self.token, self.body = b"", b"", b""

    def data_received(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.transport.close()

    def on_message_begin(self) -> None:
        self.url, self.token, self.body = b"", b"", b""

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"authorization":
            self.token = value

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        customer = customers.get(self.token) or self.known()
        if customer is None:
            return self.answer(problem("401 Unauthorized", b"www-authenticate: Bearer\r\n"))
        path, _, query = self.url.decode("latin-1").partition("?")
        match self.parser.get_method(), path.split("/")[1:]:
            case b"GET", ["orders"]:
                self.answer(orders(customer, query.removeprefix("cursor=") or None))
            case b"GET", ["orders", id]:
                self.answer(read(customer, id))
            case b"POST", ["orders", id, "hold"]:
                writes.add(self, lambda: hold(customer, id))
            case b"POST", ["orders"]:
                try:
                    placed = decode(self.body)
                except msgspec.DecodeError:
                    return self.answer(problem("422 Unprocessable Content"))
                writes.add(self, lambda: create(customer, placed))
            case _:
                self.answer(problem("404 Not Found"))

    def known(self) -> str | None:
        kind, _, token = self.token.partition(b" ")
        found = cursor.execute(
            "select id from customer where api_key = ?", (hashlib.sha256(token).digest(),)
        ).fetchone()
        if kind.lower() != b"bearer" or found is None:
            return None
        customers[self.token] = found[0]
        return customers[self.token]

    def answer(self, answer: Answer) -> None:
        status, more, body = answer
        head = b"HTTP/1.1 %b\r\n%b%bcontent-length: %d\r\n\r\n" % (status.encode(), dates.now(), more, len(body))
        self.transport.write(head + body)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
