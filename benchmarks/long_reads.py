"""How long short reads take while long ones go on beside them, and while a long write does.

    python benchmarks/long_reads.py            among 200,000 rows

The service of `benchmarks/lists.py` with a filter that no index serves: it compares every order with every other, and
would go on for hours. Meanwhile one client reads single pages over a kept connection; printed are their median and
99th percentile in milliseconds: alone, beside 1, 8 and 32 long reads, and beside a change of all rows.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import perf_counter, sleep

from lists import FILTERS, asked, contract, filled, served

ROWS, SECONDS = 200_000, 5
SLOW = """
    query:
      slow: all(order).exists(o, o.note.contains(order.note + value))"""
CHANGE = """  PUT /orders/notes:
    does: update all order
    sets: {note: "order.note + 'x'"}
    responses: {204: none}
authentication:"""


def measured(connection: HTTPConnection, token: str) -> str:
    taken: list[float] = []
    end = perf_counter() + SECONDS
    while perf_counter() < end:
        began = perf_counter()
        asked(connection, "GET", "/own", token)
        taken.append((perf_counter() - began) * 1_000)
    last = statistics.quantiles(taken, n=100)[98]
    return f"{statistics.median(taken):8.2f} {last:8.2f} {max(taken):8.2f}   {len(taken):,} reads"


def left(host: str, port: int, method: str, path: str, token: str) -> HTTPConnection:
    """A request whose answer is waited for by nobody."""
    connection = HTTPConnection(host, port, timeout=600)
    connection.request(method, path, headers={"Authorization": f"Bearer {token}"})
    return connection


def main() -> None:
    text = contract(FILTERS.replace("\n    query:", SLOW)).replace("authentication:", CHANGE, 1)
    print(f"{'ms':32}  median      99%      max")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        filled(folder / "orders.db", text, ROWS)
        with served(folder, text, folder / "orders.db") as connection, ThreadPoolExecutor(32) as pool:
            token = json.loads(asked(connection, "POST", "/customers", None))["token"]
            host, port = connection.host, connection.port
            print(f"{'alone':32}{measured(connection, token)}")
            begun: list[HTTPConnection] = []
            for count in (1, 8, 32):
                while len(begun) < count:
                    begun.append(left(host, port, "GET", f"/orders?slow=none{len(begun)}", token))
                sleep(0.5)
                print(f"{f'beside {count} long reads':32}{measured(connection, token)}")
            change = pool.submit(left(host, port, "PUT", "/orders/notes", token).getresponse)
            sleep(0.5)
            print(f"{'and a change of all rows':32}{measured(connection, token)}")
            for each in begun:
                each.close()
        with suppress(HTTPException, OSError):
            change.result()


if __name__ == "__main__":
    main()
