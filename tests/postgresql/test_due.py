"""What falls due over several nodes, each a process of its own, of which one is killed in the midst of it, and the
clocks of the others are wrong: it happens once, as of its time, though nobody asks for it."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.postgresql import server
from tests.postgresql.nodes import Node
from tests.postgresql.test_clock import HOUR
from tests.waiting import until

pytestmark = [pytest.mark.serves, pytest.mark.slow]

CONTRACT = """
purpose: Keeps things for two seconds.
resources:
  seat:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, status: {state: true}}
  hold:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      until: {type: string, format: date-time, on create: "now + duration('PT2S')"}
    expires: hold.until
states:
  seat: {initial: held, states: [held, lapsed], transitions: {lapse: {from: held, to: lapsed, after: PT2S}}}
  hold: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /seats: {does: create seat, body: none, responses: {201: {id: seat.id}}}
  POST /holds: {does: create hold, body: none, responses: {201: {id: hold.id}}}
  GET /events: {does: stream event, responses: {200: stream}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events:
  kinds:
    seat.made:   {upon: create seat, payload: {id: seat.id}}
    seat.lapsed: {upon: lapse seat,  payload: {id: seat.id}}
    hold.made:   {upon: create hold, payload: {id: hold.id}}
    hold.ended:  {upon: delete hold, payload: {id: hold.id}}
  delivery: {stream: server-sent events, envelope: none}
  kept: P7D
errors: none
limits: none
versioning: none
"""

MADE = 60
"""Rows of each kind."""

ENDED = "SELECT count(*)::int FROM \"$event\" WHERE kind IN ('seat.lapsed', 'hold.ended')"
HAPPENED = 'SELECT kind, row, time FROM "$event" ORDER BY seq'


def test_it_happens_once_and_in_time_though_a_node_dies_and_others_have_the_wrong_time(tmp_path: Path) -> None:
    contract, url = tmp_path / "contract.yaml", server.database()
    contract.write_text(CONTRACT, encoding="utf-8")
    programs = [("ninefold",), *(("tests.postgresql.off", str(ahead)) for ahead in (HOUR, -HOUR))]
    with ExitStack() as stack, ThreadPoolExecutor(3) as threads:
        killed, *off = among = [Node(url, contract=contract, program=program) for program in programs]
        for each in among:
            each.begun()
            stack.callback(each.close)
        for each in off:
            each.process.send_signal(signal.SIGUSR1)
            each.until_said("off")

        def make(node: Node) -> None:
            for _ in range(MADE // len(among)):
                for path in ("/seats", "/holds"):
                    assert node.client.post(path).status_code == 201

        list(threads.map(make, among))
        asked = server.Asked(url)
        stack.callback(asked.close)
        until(lambda: asked.run(ENDED)[0][0] > 0)
        killed.kill()
        until(lambda: asked.run(ENDED)[0][0] == 2 * MADE)
        happened = [tuple(each) for each in asked.run(HAPPENED)]
    times = {(kind, row): datetime.fromisoformat(time) for kind, row, time in happened}
    assert len(times) == len(happened) == 4 * MADE
    for row in range(1, MADE + 1):
        for made, ended in (("seat.made", "seat.lapsed"), ("hold.made", "hold.ended")):
            assert times[ended, f"[{row}]"] - times[made, f"[{row}]"] == timedelta(seconds=2)
