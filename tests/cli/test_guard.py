"""The operator's port answers who knows its address, and no web page that has found it."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import socket
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.test_serving import Refused, Serving, command, refused, serving

from ninefold.runtime.operator.port import HEADERS, guard

__all__ = ["refused"]

pytestmark = pytest.mark.serves

PATHS = ("/health/live", "/health/ready", "/metrics", "/clock", "/identity/staff/keys", "/nothing", "/")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    options = ("--clock", "2026-01-01T00:00:00Z", "--development-issuer", "--operator-name", "Metrics.Internal")
    with serving(tmp_path_factory.mktemp("guard"), *options) as service:
        yield service


def port_of(service: Serving) -> int:
    return int(service.address("operator").rpartition(":")[2])


@pytest.mark.parametrize("path", PATHS)
def test_another_name_is_answered_nothing(service: Serving, path: str) -> None:
    operator, port = service.address("operator"), port_of(service)
    with httpx.Client(base_url=operator) as client:
        for host in (
            "evil.example",
            f"evil.example:{port}",
            f"localhost.evil.example:{port}",
            "localhost",
            f"127.0.0.1:{port}x",
        ):
            for method in ("GET", "PUT", "POST", "OPTIONS", "HEAD", "BREW"):
                answer = client.request(method, path, headers={"Host": host}, content=b"2030-01-01T00:00:00Z")
                assert answer.status_code in ((421, 400) if host.endswith("x") else (421,)), (host, method)
                assert "20" not in answer.text.replace(str(port), "") and answer.text.count("\n") <= 1
        assert client.get("/clock").text.startswith("2026-01-01T")


@pytest.mark.parametrize("path", PATHS)
def test_another_origin_is_answered_nothing(service: Serving, path: str) -> None:
    operator, port = service.address("operator"), port_of(service)
    with httpx.Client(base_url=operator) as client:
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": f"http://127.0.0.1:{port + 1}"},
            {"Origin": f"http://localhost:{port}"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"},
        ):
            assert client.get(path, headers=headers).status_code == 403, headers
        expected = client.get(path).status_code
        for headers in ({"Origin": operator}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
            assert client.get(path, headers=headers).status_code == expected, headers


def test_who_knows_the_address_is_answered(service: Serving) -> None:
    operator, port = service.address("operator"), port_of(service)
    with httpx.Client(base_url=operator) as client:
        names = (
            f"localhost:{port}",
            f"LOCALHOST:{port}",
            f"[::1]:{port}",
            "metrics.internal",
            f"metrics.internal:{port}",
        )
        for host in names:
            assert client.get("/clock", headers={"Host": host}).status_code == 200, host
        # A probe comes by the address of the machine, whatever it is; what can be changed does not.
        for host in ("10.1.2.3", "10.1.2.3:8081", "[2001:db8::1]:8081"):
            assert client.get("/health/ready", headers={"Host": host}).status_code == 200
            assert client.get("/metrics", headers={"Host": host}).status_code == 200
            assert client.get("/clock", headers={"Host": host}).status_code == 421
            assert client.get("/identity/staff/keys", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_headers(service: Serving, path: str) -> None:
    with httpx.Client(base_url=service.address("operator")) as client:
        for answer in (client.get(path), client.get(path, headers={"Host": "x"}), client.delete(path)):
            for name, value in HEADERS:
                assert answer.headers.get_list(name.decode()) == [value.decode()]


def test_a_host_is_there_once(service: Serving) -> None:
    with socket.create_connection(("127.0.0.1", port_of(service))) as connection:
        connection.settimeout(60)
        connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert connection.recv(1_000).startswith(b"HTTP/1.1 421 ")


def test_what_is_bound_says_which_hosts_there_are() -> None:
    local = {"127.0.0.1", "localhost", "[::1]"}
    assert guard("127.0.0.1", 80).hosts == local | {f"{each}:80" for each in local}
    assert guard("0.0.0.0", 8081).hosts == {f"{each}:8081" for each in (*local, "0.0.0.0")}
    assert guard("10.0.0.1", 8081).hosts == {"10.0.0.1:8081"}
    assert guard("::1", 8081, ["a:1"]).hosts == {f"{each}:8081" for each in local} | {"a:1"}


def test_a_name_that_is_none(refused: Refused) -> None:
    assert "--operator-name: a/b is no name" in refused("--operator-name", "a/b")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_the_end_of_the_terminal_is_an_orderly_stop(tmp_path: Path) -> None:
    ours, its = pty.openpty()

    def takes_the_terminal() -> None:
        os.setsid()
        fcntl.ioctl(its, termios.TIOCSCTTY, 0)

    call = subprocess.Popen(
        command(tmp_path), stdin=its, stdout=subprocess.PIPE, text=True, preexec_fn=takes_the_terminal
    )
    with call as process:
        try:
            os.close(its)
            assert process.stdout
            assert any(line.startswith("service ") for line in process.stdout)
            os.close(ours)
            process.communicate(timeout=60)
            assert process.returncode == 0
        finally:
            process.kill()
