"""Reverse proxies before a service, as their makers ship them, and what they send to it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import h11
from tests.door.doors import Address
from tests.ports import free_port
from tests.waiting import begun


@dataclass(frozen=True)
class Front:
    """`command`: the program's arguments, given its configuration's file. `configuration`: given the port that it
    listens on, and the one that it sends to."""

    name: str
    command: Callable[[Path], list[str]]
    configuration: Callable[[int, int], str]

    @property
    def program(self) -> str | None:
        """From the wheel beside this Python, or the PATH; None: it is not there."""
        beside = Path(sys.executable).parent / self.name
        return str(beside) if beside.exists() else shutil.which(self.name)


NO_REQUEST = "(no request)"

FRONTS = (
    Front(
        "caddy",
        lambda file: ["run", "--adapter", "caddyfile", "--config", str(file)],
        lambda port, to: (
            "{\n admin off\n auto_https off\n}\n"
            f"http://:{port} {{\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:{to}\n}}\n"
        ),
    ),
    Front(
        "haproxy",
        lambda file: ["-db", "-f", str(file)],
        lambda port, to: (
            "defaults\n mode http\n timeout connect 5s\n timeout client 5s\n timeout server 5s\n http-reuse always\n"
            f"frontend f\n bind 127.0.0.1:{port}\n default_backend b\nbackend b\n server s 127.0.0.1:{to}\n"
        ),
    ),
    Front(
        "nginx",
        lambda file: ["-g", "daemon off;", "-p", str(file.parent), "-c", str(file)],
        lambda port, to: (
            "pid nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off;\n"
            f" upstream s {{ server 127.0.0.1:{to}; keepalive 8; }}\n"
            f" server {{ listen 127.0.0.1:{port};\n"
            '  location / { proxy_pass http://s; proxy_http_version 1.1; proxy_set_header Connection "";'
            " proxy_request_buffering off; } } }\n"
        ),
    ),
)


@contextmanager
def before(front: Front, service: Address, directory: Path) -> Iterator[Address]:
    """The front at work, until the block ends."""
    assert front.program is not None
    port = free_port()
    file = directory / f"{front.name}.conf"
    file.write_text(front.configuration(port, service[1]))
    places = {"HOME": str(directory), "XDG_DATA_HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}
    with (directory / f"{front.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [front.program, *front.command(file)], env={**os.environ, **places}, stdout=log, stderr=log
        )
        try:
            begun(process, "127.0.0.1", port, Path(log.name).read_text)
            yield "127.0.0.1", port
        finally:
            process.terminate()
            process.wait(60)


@dataclass
class Tap:
    """What goes to a service, connection by connection."""

    address: Address
    connections: list[bytearray] = field(default_factory=list)

    def requests(self) -> list[str]:
        """The paths that were asked for, as another reader of HTTP finds them (h11); of what it takes for none, that
        there was something, which ends its connection."""
        return [path for sent in self.connections for path in _paths(bytes(sent))]


def _paths(sent: bytes) -> Iterator[str]:
    while sent:
        reader = h11.Connection(h11.SERVER, max_incomplete_event_size=1_000_000)
        reader.receive_data(sent)
        while (event := _next(reader)) not in (h11.NEED_DATA, h11.PAUSED):
            if event is None:
                yield NO_REQUEST
                return
            if isinstance(event, h11.Request):
                yield event.target.decode("latin-1").partition("?")[0]
            elif isinstance(event, h11.EndOfMessage):
                break
        else:
            return
        sent = reader.trailing_data[0]


def _next(reader: h11.Connection) -> object | None:
    try:
        event: object = reader.next_event()
    except h11.RemoteProtocolError:
        return None
    return event


@contextmanager
def tapped(service: Address) -> Iterator[Tap]:
    """A wire to a service, on which is heard what goes to it."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=100)
    tap = Tap(listening.getsockname())
    wires: list[threading.Thread] = []

    def accept() -> None:
        with listening, suppress(OSError):
            while True:
                client, _ = listening.accept()
                heard = bytearray()
                tap.connections.append(heard)
                wires.append(threading.Thread(target=_wire, args=(client, socket.create_connection(service), heard)))
                wires[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield tap
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        for thread in (accepting, *wires):
            thread.join()


def _wire(client: socket.socket, server: socket.socket, heard: bytearray) -> None:
    with client, server:
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=_carry, args=(server, client, bytearray()))
        back.start()
        _carry(client, server, heard)
        back.join()


def _carry(giver: socket.socket, taker: socket.socket, heard: bytearray) -> None:
    with suppress(OSError):
        while data := giver.recv(65536):
            heard += data
            taker.sendall(data)
    with suppress(OSError):
        taker.shutdown(socket.SHUT_WR)
