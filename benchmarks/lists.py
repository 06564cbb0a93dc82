"""What lists, filters and creates cost as the rows become more.

    python benchmarks/lists.py                  among 1,000 to 1,000,000 orders
    python benchmarks/lists.py --most 10000000  up to ten million; takes some minutes, 3 GB of disk and 4 of memory

Each database is filled by SQL, then served as a user would serve it; medians of single requests over one kept
connection, in milliseconds, most of which is the request itself. `check` notes nothing of the lists above the line.
Below it is what no index serves. The last lines are creates: with all the indexes of the contract, and the same
without its filters and sorts.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter, sleep

import apsw

FILTERS = """
    query:
      status: order.status == value
      note:   order.note == value
      paid:   order.paid == value
      since:  order.made >= value
      like:   order.note.contains(value)
      sort:   {sorts: [made, amount]}
    sort: [-made]"""

CONTRACT = """
purpose: Takes orders.
resources:
  customer:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      token: {type: string, secret: token, on create: token()}
  order:
    primary key: id
    fields:
      id:       {type: integer, on create: serial()}
      customer: {references: customer, on create: caller.customer, inverse: orders, on delete: restrict}
      status:   {type: string, enum: [open, paid, sent, done]}
      note:     {type: string}
      paid:     {type: boolean}
      amount:   {type: integer}
      made:     {type: string, format: date-time, on create: now}
    required: [customer, status, note, paid, amount, made]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /customers: {does: create customer, body: none, responses: {201: {id: customer.id, token: issued.token}}}
  POST /orders: {does: create order, body: [status, note, paid, amount], responses: {201: {id: order.id}}}
  GET /own:
    does: list order
    where: order.customer == caller.customer
    sort: [-made]
    responses: {200: {data: page.items}}
  GET /counted:
    does: list order
    sort: [id]
    responses: {200: {data: page.items, total: page.total}}
  GET /orders:
    does: list orderFILTERS
    responses: {200: {data: page.items}}
authentication:
  schemes: {token: {type: http, scheme: bearer, matches: customer.token}}
  rows: all
  unseen rows: not found
  permissions: {POST /customers: anyone, all others: token}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes: {wrong: {status: 422, title: Wrong, for: invalid}}
limits:
  rates: none
  body size: none
  timeout: none
  pages: {default: 20, maximum: 100, by: cursor, size: size, at: after}
versioning: none
"""

SERVED = ("/orders", "/orders?sort=made", "/orders?sort=amount", "/orders?status=open", "/orders?status=none",
          "/orders?note=n7", "/orders?note=nothing", "/orders?paid=true", "/orders?since=2099-01-01T00:00:00Z",
          "/own")  # fmt: skip
NOT_SERVED = ("/orders?like=nothing", "/orders?status=open&sort=amount", "/counted")
ROUNDS, EACH = 7, 20
STATUSES = 'json_extract(\'["open","paid","sent","done"]\', \'$[\' || (i % 4) || \']\')'


def contract(filters: str) -> str:
    if not filters:
        kept = CONTRACT.partition("  GET /own:")[0] + CONTRACT[CONTRACT.index("authentication:") :]
        return kept
    return CONTRACT.replace("FILTERS", filters)


def filled(folder: Path, text: str, rows: int) -> Path:
    """A customer for each hundred orders; notes that a thousand rows have, and times a second apart."""
    path = folder / "orders.db"
    with served(folder, text, path):
        pass  # who made a database has no doubts about its rows
    connection = apsw.Connection(str(path))
    connection.pragma("synchronous", "off")
    connection.pragma("cache_size", -4_000_000)  # KiB: else the pages of the indexes are written again and again
    numbers = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {})"
    customers = max(1, rows // 100)
    connection.execute("BEGIN")
    connection.execute(
        f'{numbers.format(customers)} INSERT INTO customer (id, token, "$revision") '
        "SELECT i, CAST('t' || i AS BLOB), 'r' FROM n"
    )
    connection.execute(
        f'{numbers.format(rows)} INSERT INTO "order" (id, customer, status, note, paid, amount, made, "$revision") '
        f"SELECT i, 1 + i % {customers}, {STATUSES}, 'n' || (i * 7919 % {max(1, rows // 1000)}), i % 2, i * 31 % 9973, "
        "strftime('%Y-%m-%dT%H:%M:%S.000000Z', 1600000000 + i, 'unixepoch'), 'r' FROM n"
    )
    connection.execute("COMMIT")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    return path


@contextmanager
def served(folder: Path, text: str, database: Path) -> Iterator[HTTPConnection]:
    document = folder / "orders.yaml"
    document.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ninefold", "serve", str(document), "--database", str(database)]
    log = folder / "log"
    with log.open("w") as output:
        service = subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"], stdout=output, stderr=output
        )
    try:
        for _ in range(1200):
            if found := re.search(r"^service +http://(\S+)", log.read_text(encoding="utf-8"), re.MULTILINE):
                break
            sleep(0.05)
        else:
            raise SystemExit(f"the service did not start:\n{log.read_text(encoding='utf-8')}")
        connection = HTTPConnection(found[1], timeout=600)
        yield connection
        connection.close()
    finally:
        service.terminate()
        service.wait()


def asked(connection: HTTPConnection, method: str, path: str, token: str | None, body: str | None = None) -> bytes:
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    if response.status >= 400:
        raise SystemExit(f"{method} {path}: {response.status} {content!r}")
    return content


def medians(
    connection: HTTPConnection, token: str, requests: dict[str, tuple[str, str, str | None]]
) -> dict[str, float]:
    """Milliseconds of each, asked in turn in several rounds; of what takes long, a few times are enough."""
    taken: dict[str, list[float]] = {name: [] for name in requests}
    for _ in range(ROUNDS):
        for name, (method, path, body) in requests.items():
            for _ in range(1 if sum(taken[name]) > 1 else EACH):
                began = perf_counter()
                asked(connection, method, path, token, body)
                taken[name].append(perf_counter() - began)
    return {name: statistics.median(each) * 1_000 for name, each in taken.items()}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--most", type=int, default=1_000_000)
    most = arguments.parse_args().most
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000) if size <= most]
    figures: dict[str, list[float]] = {}
    order = json.dumps({"status": "open", "note": "n7", "paid": True, "amount": 5})
    for size in sizes:
        print(f"{size:,} …", file=sys.stderr)
        for filters, what in ((FILTERS, "with all indexes"), ("", "without filters and sorts")):
            with tempfile.TemporaryDirectory() as place:
                folder, text = Path(place), contract(filters)
                with served(folder, text, filled(folder, text, size)) as connection:
                    token = json.loads(asked(connection, "POST", "/customers", None))["token"]
                    requests = {f"GET {path}": ("GET", path, None) for path in (*SERVED, *NOT_SERVED) if filters}
                    requests |= {f"POST /orders, {what}": ("POST", "/orders", order)}
                    for name, value in medians(connection, token, requests).items():
                        figures.setdefault(name, []).append(value)
    print(f"{'median, ms':44}" + "".join(f"{size:>12,}" for size in sizes) + "    last/first")
    for name, each in figures.items():
        if name.endswith(NOT_SERVED[0]):
            print("no index serves:")
        print(f"{name:44}" + "".join(f"{value:12.2f}" for value in each) + f"{each[-1] / each[0]:12.1f}")


if __name__ == "__main__":
    main()
