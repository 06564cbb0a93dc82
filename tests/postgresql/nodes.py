"""Processes of `ninefold serve` over one database in PostgreSQL, clients that load them, and the judge of what they
have written."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import httpx
from tests.events.receiver import Receiver
from tests.postgresql import server
from tests.waiting import PATIENCE, until

CONTRACT = Path(__file__).parent / "contract.md"

numbers = count(1)


class Node:
    """A process of `ninefold serve`."""

    def __init__(
        self, url: str, *options: str, contract: Path = CONTRACT, program: Sequence[str] = ("ninefold",)
    ) -> None:
        """`program`: a module that does what `ninefold` does, and what is said to it first."""
        command = [sys.executable, "-m", *program, "serve", str(contract), "--database", url]
        command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--allow-private", "127.0.0.0/8", *options]
        self._command = command
        self._begin()

    def _begin(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)

    def supervised(self) -> Node:
        """Once it serves; begun again where it ends before, as whoever supervises it would: PostgreSQL has to answer it
        in seconds, which a machine that is busy enough does not let it."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self.begun()
            except AssertionError:
                # 2 is said where it cannot serve; a fault of its own is none that anybody begins it again for.
                if self.process.wait() != 2 or time.monotonic() > end:
                    raise
            if self.process.stdout is not None:
                self.process.stdout.close()
            self._begin()

    def begun(self) -> Node:
        """Once it serves."""
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.match(r"service +(\S+)", line):
                self.client = httpx.Client(base_url=found[1], timeout=60)
            if found := re.match(r"operator +(http://[^/]+)/", line):
                self.operator = found[1]
                return self
        raise AssertionError(said)

    def until_said(self, wanted: str) -> None:
        """Until it has written a line."""
        assert self.process.stdout is not None
        assert any(line == f"{wanted}\n" for line in self.process.stdout), f"it has ended, and never said {wanted}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """As it is told to, so that nobody waits for it to come back."""
        self.process.terminate()
        self.process.wait()

    def close(self) -> None:
        self.client.close()
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def nodes(url: str, number: int, *options: str, contract: Path = CONTRACT) -> Iterator[list[Node]]:
    """They begin together. `options`: of `serve`."""
    with ExitStack() as stack:
        found = [Node(url, *options, contract=contract) for _ in range(number)]
        for each in found:
            each.begun()
            stack.callback(each.close)
        yield found


def person(client: httpx.Client) -> dict[str, str]:
    made = client.post("/people", json={"name": f"p{next(numbers)}"})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['token']}"}


def hall(client: httpx.Client, most: int) -> int:
    found: int = client.post("/halls", json={"most": most}).json()["id"]
    return found


class Load:
    """Clients that send each seat with a key of its own, to any node, until it is answered."""

    def __init__(self, among: list[Node], who: dict[str, str], where: int) -> None:
        self.among, self.who, self.where = among, who, where
        self.answered: list[tuple[int, str]] = []
        self.ended = self.given_up = False
        self.writing: list[Future[None]] = []
        self.refused: dict[int, str] = {}
        """What each client was told last in place of an answer."""

    @contextmanager
    def going(self, clients: int) -> Iterator[None]:
        """So many clients write until the block ends. Raises what one of them met."""
        with ThreadPoolExecutor(clients) as threads:
            writing = self.writing = [threads.submit(self.write, number) for number in range(clients)]
            try:
                yield
            except BaseException:
                # Nobody may ever answer them again: why is what the block says.
                self.given_up = True
                raise
            finally:
                self.ended = True
            for each in writing:
                each.result()

    def until_more(self, more: int) -> None:
        """Until so many more were answered."""
        before = len(self.answered)

        def came() -> bool:
            for each in self.writing:
                if each.done():
                    each.result()  # what it met
            return len(self.answered) >= before + more

        until(came, lambda: f"writes go on; last were refused: {self.refused}")

    def write(self, _: int) -> None:
        while not self.ended:
            # Whoever asks again asks for the same, wherever others go meanwhile.
            name, where = f"s{next(numbers)}", self.where
            while (made := self._sent(name, where)) is None:
                if self.given_up:
                    return
                time.sleep(0.05)
            self.came(made, name)

    def came(self, made: int, name: str) -> None:
        self.answered.append((made, name))

    def _sent(self, name: str, where: int) -> int | None:
        body, headers = {"hall": where, "name": name}, {**self.who, "Idempotency-Key": name}
        try:
            made = random.choice(self.among).client.post("/seats", json=body, headers=headers)
        except (httpx.HTTPError, RuntimeError) as met:
            self.refused[threading.get_ident()] = repr(met)
            return None
        if made.status_code == 503 or made.json().get("code") == "key_busy":
            self.refused[threading.get_ident()] = f"{made.status_code} {made.text}"
            return None
        assert made.status_code == 201, made.text
        found: int = made.json()["id"]
        return found


def delivered(receiver: Receiver, ids: set[int]) -> None:
    def come() -> set[int]:
        return {each.json["data"]["id"] for each in receiver.good()}

    until(lambda: come() == ids, lambda: (ids, come()))
    # Who died may have sent what it could not note any more: its identifier is the same.
    firsts = dict.fromkeys(each.id for each in receiver.good())
    assert len(firsts) == len(ids)


def judge(url: str, load: Load, receiver: Receiver) -> None:
    """No row, event or delivery that was answered is lost, nothing is there twice, and numbers have no holes."""
    rows = [(each[0], each[1]) for each in server.run(url, "SELECT id, name FROM seat ORDER BY id")]
    assert len(set(load.answered)) == len(load.answered) and sorted(load.answered) == rows
    assert [id for id, _ in rows] == list(range(1, len(rows) + 1))
    log = server.run(url, 'SELECT seq, kind, row FROM "$event" ORDER BY seq')
    assert [each[0] for each in log] == list(range(1, len(log) + 1))
    happened = [(each[1], each[2]) for each in log]
    assert len(set(happened)) == len(happened), "each was made once, and has lapsed once"
    assert sum(kind == "seat.made" for kind, _ in happened) == len(rows)
    delivered(receiver, {id for id, _ in rows})
