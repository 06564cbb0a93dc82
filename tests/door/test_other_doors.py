"""A service that is mounted in somebody else's server, and the ways of clients that ask for an upgrade."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
import uvicorn
from tests.door.attacks import ATTACKS, LAST, NOTE, SMUGGLED, Attack, post, sized
from tests.door.doors import Address, Door, answers, own, served, told
from tests.waiting import until

from ninefold.runtime.http.run import Asgi

pytestmark = pytest.mark.serves


def of_uvicorn(http: Literal["h11", "httptools"]) -> Door:
    @contextmanager
    def door(application: Asgi) -> Iterator[Address]:
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(application, http=http, log_config=None))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        until(lambda: server.started)
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            thread.join()

    return door


@pytest.mark.parametrize("http", ["httptools", "h11"])
def test_mounted_elsewhere_a_body_is_no_request_either(http: Literal["h11", "httptools"], tmp_path: Path) -> None:
    """httptools leaves the body of a request that asks for an upgrade where it is, and reads it as the next request."""
    with served(of_uvicorn(http), tmp_path) as (address, seen):

        def attacked(attack: Attack) -> None:
            head, _, body = attack.sent.partition(b"\r\n\r\n")
            told(address, [head + b"\r\n\r\n", body, LAST], pause=0.02, patience=1)

        tried = [attack for attack in ATTACKS if not attack.doubtful and len(attack.sent) <= 5_000]
        # Each has a connection of its own, and many of them end only when they have been silent for long enough.
        with ThreadPoolExecutor(len(tried)) as pool:
            list(pool.map(attacked, tried))
        if "/smuggled" in seen.taken():
            for attack in tried:
                attacked(attack)
                assert "/smuggled" not in seen.taken(), attack.name
            raise AssertionError("one of them was smuggled, where they came together")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
@pytest.mark.parametrize(
    "options",
    [
        ["--http1.1"],
        ["--http2"],
        ["--http2", "-H", "Expect: 100-continue"],
        ["--http2", "-H", "Transfer-Encoding: chunked"],
    ],
    ids=" ".join,
)
def test_curl_is_answered_the_same_whatever_it_would_rather_speak(options: list[str], tmp_path: Path) -> None:
    with served(own, tmp_path) as (address, seen):
        url = f"http://{address[0]}:{address[1]}/notes"
        command = ["curl", "-s", *options, "-d", NOTE.decode(), "-H", "Content-Type: application/json", url]
        found = subprocess.run([*command, "--next", *command[1:]], capture_output=True, check=True, timeout=60)
        assert found.stdout == b'{"text":"a"}' * 2
        assert seen.taken() == ("/notes", "/notes")


def test_a_client_that_says_nothing_more_is_still_answered(tmp_path: Path) -> None:
    with served(own, tmp_path) as (address, _), socket.create_connection(address) as connection:
        connection.settimeout(60)
        connection.sendall(post(sized(NOTE), body=NOTE))
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as coming:
            assert answers(coming.read()) == [(201, b'{"text":"a"}')]


def test_a_client_that_leaves_within_its_body_has_asked_nothing(tmp_path: Path) -> None:
    with served(own, tmp_path) as (address, _), socket.create_connection(address) as connection:
        connection.settimeout(60)
        connection.sendall(post(b"Content-Length: 100", body=SMUGGLED))
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as coming:
            assert coming.read() == b""
