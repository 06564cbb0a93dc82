"""When the service is to stop, whoever has asked is answered: nobody is cut."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from contextlib import closing
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from time import sleep

import apsw
import pytest
from tests.door.doors import CONTRACT
from tests.server.authority import Authority
from tests.server.payments import payments
from tests.waiting import until

import ninefold
from ninefold.cli.sockets import tls_context
from ninefold.runtime.http import protocol
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.run import Stop, serve
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

CLIENTS = 20


def test_no_client_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that ask again and again over connections that they keep, some with a pause between."""
    # None is given up that does not get to its next request in a second.
    monkeypatch.setattr(protocol, "STOPPING_IDLE_SECONDS", 60.0)
    monkeypatch.setattr("ninefold.runtime.http.run.STOPPING_SECONDS", 60)
    service = ninefold.application(CONTRACT, database=str(tmp_path / "a.db"))
    listening = socket.create_server(("127.0.0.1", 0), backlog=100)
    address = listening.getsockname()
    stop = Stop()
    answered: list[int] = []
    asking: list[int] = []
    ends: list[str] = []

    def client(number: int) -> None:
        connection = HTTPConnection(address[0], address[1], timeout=60)
        connection.connect()
        while True:
            try:
                connection.request("POST", "/notes", b'{"text": "a"}', {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
            except OSError as error:
                ends.append(repr(error))
                break
            answered.append(answer.status)
            asking.append(number)
            if answer.getheader("connection") == "close":
                ends.append("told")
                break
            sleep(0.02 * (number % 5))
        connection.close()

    def run() -> None:
        asyncio.run(serve(service, [listening], stop=stop))

    server = threading.Thread(target=run)
    server.start()
    clients = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for each in clients:
        each.start()
    until(lambda: len(set(asking)) == CLIENTS and len(answered) >= 5 * CLIENTS)
    stop.request()
    for each in (*clients, server):
        each.join()
    service.close()
    assert ends == ["told"] * CLIENTS
    assert set(answered) == {201} and len(answered) > CLIENTS


@pytest.mark.parametrize("secure", [False, True])
def test_idle_connections_do_not_hold_it_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secure: bool) -> None:
    """Nor do those whose clients take no notice of an end that is said."""
    monkeypatch.setattr(protocol, "IDLE_SECONDS", 0.5)
    monkeypatch.setattr("asyncio.constants.SSL_SHUTDOWN_TIMEOUT", 600)
    monkeypatch.setattr("ninefold.runtime.http.run.STOPPING_SECONDS", 600)
    service = ninefold.application(CONTRACT, database=str(tmp_path / "a.db"))
    listening = socket.create_server(("127.0.0.1", 0), backlog=100)
    stop = Stop()
    authority = Authority(tmp_path)
    own = authority.server()
    tls = tls_context(own.certificate, own.key, None) if secure else None
    server = threading.Thread(target=lambda: asyncio.run(serve(service, [listening], stop=stop, tls=tls)))
    server.start()
    port = listening.getsockname()[1]
    trusted = ssl.create_default_context(cafile=str(authority.file))
    idle = (
        HTTPSConnection("localhost", port, timeout=60, context=trusted) if secure else HTTPConnection("localhost", port)
    )
    idle.request("GET", "/hello")
    assert idle.getresponse().read()
    begun = socket.create_connection(("127.0.0.1", port))
    begun.sendall(b"\x16\x03\x01" if secure else b"GET /hello HTTP/1.1\r\nHost:")
    stop.request()
    server.join(60)
    assert not server.is_alive()
    idle.close()
    begun.close()
    service.close()


def test_what_is_being_written_for_who_has_left_is_told_to_the_log(tmp_path: Path) -> None:
    """It is committed all the same: nothing is done of which there is no line."""
    plan, path, stop, records = payments(), str(tmp_path / "a.db"), Stop(), list[Record]()
    opened = open_sqlite(path, plan.schema)
    assert isinstance(opened, Opened)
    service = Application(ready(plan, opened.database.key("cursors")), opened.database, observe=records.append)
    listening = socket.create_server(("127.0.0.1", 0), backlog=100)
    client = HTTPConnection("127.0.0.1", listening.getsockname()[1], timeout=60)
    server = threading.Thread(target=lambda: asyncio.run(serve(service, [listening], stop=stop)))
    server.start()
    with closing(opened.database), closing(apsw.Connection(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        client.request("POST", "/customers", b'{"name": "Ann"}', {"Content-Type": "application/json"})
        until(lambda: service.capacity.requests == 1)
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # by a reset
        client.close()
        stop.request()
        server.join(1)
        other.execute("ROLLBACK")
        server.join()
        made = opened.database.select("SELECT count(*) FROM customer", ())
    assert [(each.status == 201,) for each in records] == made
    assert (service.capacity.requests, service.capacity.bytes) == (0, 0)
