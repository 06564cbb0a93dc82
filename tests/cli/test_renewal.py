"""`ninefold serve` takes its contract anew, on SIGHUP or when it is saved, without dropping a connection; one that has
errors, or needs a decision over rows, is told, and what was served goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.cli.test_serving import command
from tests.server.test_rows_that_do_not_fit import source
from tests.slices import some
from tests.upgrade.test_matrix import CHANGES, databases, loaded, path

__all__ = ["databases", "path"]

pytestmark = [
    pytest.mark.serves,
    pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP"),
]

FIRST = source("{type: string}")
SECOND = FIRST.replace("      text: {", "      more: {type: string}\n      text: {").replace(
    "[id, text]", "[id, text, more]"
)
OF_ERRORS = FIRST.replace("does: read note", "does: reed note")
ASKED = source("{type: integer}")


NOT_TAKEN = "ninefold_contract_not_taken"


class Service:
    """One that is run; what it says is read until a word comes."""

    def __init__(self, folder: Path, *options: str, contract: str = FIRST) -> None:
        self.document = folder / "notes.yaml"
        self.document.write_text(contract, encoding="utf-8")
        self.process = subprocess.Popen(
            command(folder, *options, document=self.document),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            self.port = int(self.until("service ")[-1].rpartition(":")[2])
            self.operator = int(self.until("operator ")[-1].split("/health")[0].rpartition(":")[2])
        except BaseException:
            self.__exit__()  # who has not entered it cannot leave it
            raise

    def until(self, word: str) -> list[str]:
        assert self.process.stdout
        lines = []
        for line in self.process.stdout:
            lines.append(line.rstrip())
            if line.startswith(word):
                return lines
        raise AssertionError("\n".join(lines))

    def takes(self, contract: str, word: str) -> list[str]:
        """What it says of a contract, until a word."""
        self.document.write_text(contract, encoding="utf-8")
        self.process.send_signal(signal.SIGHUP)
        return self.until(word)

    def renewed(self) -> dict[str, float]:
        """What the metrics say of contracts that were read anew, by outcome, and whether one is not taken."""
        connection = HTTPConnection("127.0.0.1", self.operator, timeout=60)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        told = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        names = ("taken", "refused", "put off")
        counted = {each: f'ninefold_contracts_read_anew_total{{outcome="{each}"}}' for each in names}
        return {each: float(told[name]) for each, name in {**counted, "not taken": NOT_TAKEN}.items()}

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()
        assert self.process.returncode == 0

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def asked(connection: HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    content = None if body is None else json.dumps(body)
    connection.request(method, path, content, {} if body is None else {"Content-Type": "application/json"})
    answer = connection.getresponse()
    read = answer.read()
    return answer.status, json.loads(read) if read else None


@contextmanager
def in_use(connection: HTTPConnection) -> Iterator[None]:
    """However long something takes meanwhile, the connection is not idle for so long that it is ended."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(0.5):
            assert asked(connection, "GET", "/notes/a")[0] == 200

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()


def test_it_takes_what_needs_no_decision_and_goes_on_with_the_old_otherwise(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        goes_on(service)
        service.end()


def goes_on(service: Service) -> None:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
    assert asked(connection, "POST", "/notes", {"id": "a", "text": "one"})[0] == 201
    through = connection.sock

    def takes(contract: str, word: str) -> list[str]:
        with in_use(connection):
            return service.takes(contract, word)

    taken = takes(SECOND, "served anew")
    assert any("note.more" in line and "added" in line for line in taken), taken
    assert asked(connection, "POST", "/notes", {"id": "b", "text": "two", "more": "x"})[0] == 201
    for contract, why in ((OF_ERRORS, "the contract has errors"), (ASKED, "is left to `upgrade`")):
        told = takes(contract, "error: what was served goes on")
        assert any(why in line for line in told), told
        assert asked(connection, "GET", "/notes/b") == (200, {"id": "b", "more": "x", "text": "two"})
    assert service.renewed() == {"taken": 1, "refused": 2, "put off": 0, "not taken": 1}
    # The contract of before hides what the other added, and a later one has it again.
    takes(FIRST, "served anew")
    assert asked(connection, "GET", "/notes/b") == (200, {"id": "b", "text": "two"})
    takes(SECOND, "served anew")
    assert asked(connection, "GET", "/notes/b")[1]["more"] == "x"
    assert service.renewed() == {"taken": 3, "refused": 2, "put off": 0, "not taken": 0}
    assert connection.sock is through and through is not None, "the connection is the same"
    if (loaded := Path(f"/proc/{service.process.pid}/maps")).exists():
        assert "/_yaml." not in loaded.read_text(), "another process compiles"
    connection.close()


def test_requests_that_come_meanwhile_are_all_answered(tmp_path: Path) -> None:
    statuses: list[int] = []
    ending = threading.Event()

    def write(name: str, port: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.connect()
        through, number = connection.sock, 0
        while not ending.is_set():
            number += 1
            statuses.append(asked(connection, "POST", "/notes", {"id": f"{name}{number}", "text": "t"})[0])
            assert connection.sock is through, "the connection was dropped"
        connection.close()

    with Service(tmp_path) as service:
        writers = [threading.Thread(target=write, args=(name, service.port)) for name in "abc"]
        for each in writers:
            each.start()
        try:
            for contract in (SECOND, FIRST, SECOND):
                service.takes(contract, "served anew")
        finally:
            ending.set()
            for each in writers:
                each.join(60)
        service.end()
    assert len(statuses) > 3 and {*statuses} == {201}
    # What was acknowledged is there.
    database = apsw.Connection(str(tmp_path / "a.db"))
    assert database.execute("SELECT count(*) FROM note").fetchall() == [(len(statuses),)]
    database.close()


def test_it_is_taken_when_it_is_saved(tmp_path: Path) -> None:
    with Service(tmp_path, "--watch") as service:
        service.document.write_text(SECOND, encoding="utf-8")
        service.until("served anew")
        service.end()


@pytest.mark.long
def test_what_requests_put_off_is_tried_again(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
        body = json.dumps({"id": "a", "text": "one"}).encode()
        connection.putrequest("POST", "/notes")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[:5])
        told = service.takes(SECOND, "error: what was served goes on")
        assert any("requests are on their way that take longer" in line for line in told), told
        assert service.renewed() == {"taken": 0, "refused": 0, "put off": 1, "not taken": 1}
        connection.send(body[5:])
        assert connection.getresponse().status == 201
        service.until("served anew")
        connection.close()
        service.end()


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
def test_it_takes_what_a_start_takes(path: Path, tmp_path: Path) -> None:
    """Each ordinary change of a contract that nobody has upgraded for, one after another, and back again."""
    path.rename(tmp_path / "a.db")
    some_of = some(list(CHANGES), 18)
    with Service(tmp_path, contract=loaded().source.text) as service:
        connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
        for name in some_of:
            # What asks for a way back leaves the database to the later contract.
            if CHANGES[name]["serve"] == "always" and CHANGES[name]["back"] is not True:
                continue
            taken = CHANGES[name]["serve"] == "always"
            told = service.takes(loaded(name).source.text, "served anew" if taken else "error: what was served goes on")
            assert taken or any("ninefold upgrade " in line for line in told), (name, told)
            if not taken:
                assert asked(connection, "GET", "/bookings/b1")[0] == 200, name
                connection.close()  # what follows may take longer than one is kept
            service.takes(loaded().source.text, "served anew")
            assert asked(connection, "GET", "/bookings/b1")[0] == 200, name
            connection.close()
        service.end()
