"""How long a sign in takes where the name is nobody's, and where only the password is wrong.

    PYTHONPATH=src python benchmarks/sign_in.py

Serves a contract in this process and asks over HTTP, one request at a time, alternately. What an attacker could tell is
the difference of the medians, beside how far the two quarters around each median lie apart. Needs nothing but ninefold.
"""

from __future__ import annotations

import asyncio
import socket
import statistics
import tempfile
import threading
from pathlib import Path
from time import perf_counter

import httpx

from ninefold.pipeline import compile_document
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.run import Stop, serve
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.sqlite import Opened, open_sqlite

ROUNDS = 300

CONTRACT = b"""
purpose: Lets users in.
resources:
  user:
    primary key: id
    fields:
      id:       {type: integer, on create: serial()}
      email:    {type: string, unique: true}
      password: {type: string, secret: password}
    required: [email, password]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /users:    {does: create user, body: [email, password], responses: {201: {id: user.id}}}
  POST /sessions:
    does: sign in user
    body: [email, password]
    issues: token
    responses: {201: {token: caller.credential}}
authentication:
  schemes: {token: {type: http, scheme: bearer, issued to: user, lasts: P1D}}
  permissions: {all others: anyone}
  rows: all
events: none
errors: none
limits: none
versioning: none
"""


def measured(http: httpx.Client) -> dict[str, list[float]]:
    """Milliseconds of each answer, by what was asked."""
    bodies = {
        "right": {"email": "ann@example.org", "password": "a long secret"},
        "wrong password": {"email": "ann@example.org", "password": "another secret"},
        "nobody's name": {"email": "bob@example.org", "password": "another secret"},
    }
    found: dict[str, list[float]] = {what: [] for what in bodies}
    for number in range(ROUNDS + 10):
        for what, body in bodies.items():
            began = perf_counter()
            http.post("/sessions", json=body)
            if number >= 10:
                found[what].append((perf_counter() - began) * 1000)
    return found


def main() -> None:
    plan = compile_document("users.yaml", CONTRACT).plan
    assert plan is not None
    with tempfile.TemporaryDirectory() as directory:
        opened = open_sqlite(str(Path(directory) / "users.db"), plan.schema)
        assert isinstance(opened, Opened)
        application = Application(ready(plan, opened.database.key("cursors")), opened.database)
        listening, stop = socket.create_server(("127.0.0.1", 0)), Stop()
        host, port = listening.getsockname()
        thread = threading.Thread(target=lambda: asyncio.run(serve(application, [listening], stop=stop)))
        thread.start()
        try:
            with httpx.Client(base_url=f"http://{host}:{port}", timeout=30) as http:
                assert http.post("/users", json={"email": "ann@example.org", "password": "a long secret"}).is_success
                found = measured(http)
        finally:
            stop.request()
            thread.join()
            opened.database.close()
    for what, times in found.items():
        first, median, third = statistics.quantiles(times, n=4)
        print(f"{what:>15}: median {median:6.2f} ms, half of them from {first:6.2f} to {third:6.2f}")


if __name__ == "__main__":
    main()
