"""What a service says holds nobody up, whoever does not read it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.cli.test_serving import Serving, serving
from tests.waiting import until

from ninefold.cli.behind import Behind

ASKED = 100
"""Requests of which the log lines are more than a small pipe takes: each is of 150 bytes or more."""


@contextmanager
def unread(folder: Path, *options: str) -> Iterator[tuple[Serving, httpx.Client]]:
    """A service whose pipe takes a page, and is not read until all were answered that were asked here."""
    with serving(folder, "--log", "json", *options) as service:
        assert service.process.stdout
        fcntl.fcntl(service.process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        with httpx.Client(base_url=service.address("service"), timeout=300) as client:
            for _ in range(ASKED):
                assert client.get("/nothing").status_code == 404
            yield service, client


pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="no pipe of this system can be made small")


@pytest.mark.serves
@pytest.mark.parametrize("options", [(), ("--readers", "1")], ids=["alone", "with a reader"])
def test_a_log_that_nobody_reads_holds_up_nobody(tmp_path: Path, options: tuple[str, ...]) -> None:
    with unread(tmp_path, *options) as (service, client):
        assert httpx.get(service.address("operator") + "/health/live", timeout=300).status_code == 200
        made = client.post("/customers", json={"name": "Ada", "email": "ada@example.org"})
        assert made.status_code == 201
        assert service.ended().count('"status":404') == ASKED


@pytest.mark.serves
def test_a_service_ends_although_nobody_reads_its_log(tmp_path: Path) -> None:
    with unread(tmp_path) as (service, _):
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(300) == 0


def test_what_nobody_takes_is_dropped_by_lines_and_counted() -> None:
    there, here = os.pipe()
    filled = 0
    os.set_blocking(here, False)
    try:
        while True:
            filled += os.write(here, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(here, True)
    behind = Behind(here, most=20)
    behind.write(b"first\n")
    until(lambda: not behind._waiting)  # it is being written now
    for _ in range(2):
        behind.write(b"second\n")
    behind.write(b"third\nfourth\n")
    behind.write(b"fifth\n")
    with open(there, "rb") as file:
        file.read(filled)
        behind.drain(300)
        behind.write(b"sixth\n")
        until(lambda: not behind._size)
        os.close(here)
        assert file.read() == b"first\nsecond\nsecond\n(3 lines were not taken in time, and are not here)\nsixth\n"


def test_what_nobody_can_take_any_more_is_dropped() -> None:
    there, here = os.pipe()
    behind = Behind(here)
    os.close(there)
    behind.write(b"first\n")
    behind.drain(300)
    assert not behind._size
    os.close(here)


def test_both_keep_their_order_in_one_file(tmp_path: Path) -> None:
    program = """
import sys
from ninefold.cli.behind import written_behind
with written_behind():
    for number in range(2000):
        print(number, file=(sys.stdout, sys.stderr)[number % 2])
"""
    with (tmp_path / "both").open("wb") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, stderr=subprocess.STDOUT, check=True)
    assert (tmp_path / "both").read_text().split() == [str(number) for number in range(2000)]


def test_a_process_that_ends_at_once_has_said_why() -> None:
    program = """
import os, sys
from ninefold.cli import behind
with behind.written_behind():
    print("why", file=sys.stderr)
    behind.drain()
    os._exit(3)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (3, "why\n")
