"""The log of `serve` says why a request was refused, by conditions and lines of the contract, and nothing that came."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import httpx
import pytest
from tests.cli.test_serving import ORDERS, serving

pytestmark = pytest.mark.serves

SECRET = "hunter2"


def lines_of(pattern: str) -> set[int]:
    return {number for number, line in enumerate(ORDERS.read_text().splitlines(), 1) if re.search(pattern, line)}


def test_why_a_request_was_refused(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "json") as service, httpx.Client() as client:
        url = service.address("service")
        host, _, port = url.removeprefix("http://").partition(":")
        made = client.post(f"{url}/customers", json={"email": "ada@example.org", "name": "Ada"})
        key = {"Authorization": f"Bearer {made.json()['api_key']}"}
        client.get(f"{url}/orders", headers={"Authorization": f"Bearer {SECRET}"})
        line = {"sku": SECRET, "quantity": 0, "unit_price": 250, SECRET: 1}
        client.post(f"{url}/orders", json={"lines": [line], SECRET: SECRET}, headers=key)
        client.post(
            f"{url}/orders", content=b'{"' + SECRET.encode(), headers={**key, "Content-Type": "application/json"}
        )
        client.get(f"{url}/orders?{SECRET}={SECRET}", headers=key)
        client.get(f"{url}/{SECRET}", headers=key)
        client.request(SECRET.upper() * 9, f"{url}/orders", headers=key)
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"GET /{SECRET} HTTP/1.1\r\nHost: x\r\n{SECRET}\r\n\r\n".encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        written = service.ended()
    assert SECRET not in written
    records = [json.loads(each) for each in written.splitlines()]
    good, unknown, invalid, malformed, parameter, missing, method, none = records
    assert good["reasons"] == []
    assert [each["condition"] for each in unknown["reasons"]] == ["unauthenticated key"] and unknown["reasons"][0][
        "lines"
    ]
    assert all(each["condition"].startswith("invalid") for each in invalid["reasons"])
    assert {line for each in invalid["reasons"] for line in each["lines"]} & lines_of("lines:")
    assert malformed["reasons"][0]["condition"] == "malformed"
    assert parameter["reasons"][0]["condition"].startswith("invalid")
    assert (missing["route"], missing["reasons"][0]["condition"]) == (None, "no such path")
    assert method["reasons"][0]["condition"] == "method not allowed" and len(method["method"]) == 33
    assert (none["method"], none["status"], none["reasons"]) == (
        "",
        400,
        [{"condition": "a header field is none", "lines": []}],
    )


STREAM = """\
purpose: Keeps notes.
resources: {note: {primary key: id, fields: {id: {type: integer, on create: serial()}}}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: none, responses: {201: note}}
  GET /events: {does: stream event, responses: {200: stream}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events:
  kinds: {made: {upon: create note, payload: note}}
  delivery: {stream: websocket}
  kept: all
errors: none
limits: none
versioning: none
"""


def test_why_a_stream_was_not_upgraded(tmp_path: Path) -> None:
    document = tmp_path / "notes.yaml"
    document.write_text(STREAM)
    with serving(tmp_path, "--log", "json", document=document) as service:
        httpx.get(service.address("service") + "/events")
        asked = json.loads(service.ended())
    assert (asked["status"], [each["condition"] for each in asked["reasons"]]) == (426, ["not upgraded"])


def test_the_same_as_text(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        httpx.get(service.address("service") + "/orders")
        written = service.ended()
    found = re.search(r"GET /orders 401 \d+ B [\d.]+ ms unauthenticated \[(.*):(\d+)\]\n", written)
    assert found is not None and found[1].endswith("orders.md") and int(found[2]) > 0, written
