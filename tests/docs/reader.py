"""A reader who does what a page says: one terminal for commands, another for the service, a contract in an editor."""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.docs.outputs import Known, as_on_the_page, in_this_run, is_shown, learn, shortened, wrapped
from tests.docs.pages import Command, Log, Parts, Step, exchanged, steps, with_parts
from tests.ports import free_port
from tests.waiting import until

ROOT = Path(__file__).parents[2]

MARKS = [
    pytest.mark.serves,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the pages are for a POSIX shell"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="the pages are for a shell"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the pages call curl"),
]
"""Of every test that follows a page."""

SECONDS = 90
"""How long a command may take before the reader gives up."""

_END = "\x00"
_SERVES = re.compile(r"(?:make serve|ninefold (?:serve|dev)\b)")
_NEW = re.compile(r"ninefold new (\S+)")
_FOLLOWED = re.compile(r"^\d\d:\d\d:\d\d  ", re.MULTILINE)
"""How `ninefold dev` begins what it says of a save."""

_BLESS = bool(os.environ.get("NINEFOLD_BLESS"))


def follow(path: Path, folder: Path) -> None:
    """Do what a page says, in a folder. Raises AssertionError where something else comes than what it shows.

    Under `NINEFOLD_BLESS=1` the page is written anew with what comes; what has changed is then to be read in the diff.
    """
    page = path.read_text(encoding="utf-8")
    with _reader(folder) as reader:
        came = [(step, reader.do(step)) for step in steps(page)]
    differing = [(step, text) for step, text in came if text is not None]
    if _BLESS:
        for step, text in reversed(differing):
            assert isinstance(step, Command | Log)
            page = page[: step.start] + text + page[step.end :]
        path.write_text(page, encoding="utf-8")
        return
    for step, text in differing:
        assert isinstance(step, Command | Log)
        line = page.count("\n", 0, step.start) + 1
        shown = step.output if isinstance(step, Command) else step.lines
        raise AssertionError(f"{path.name}, line {line}: the page shows\n\n{shown}\nand there came\n\n{text}")


@contextmanager
def _reader(folder: Path) -> Iterator[Reader]:
    # The program of this checkout, whatever else is installed.
    programs = folder / ".programs"
    programs.mkdir(exist_ok=True)  # several pages may be followed, one after another
    program = programs / "ninefold"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ninefold "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    reader = Reader(folder, programs)
    try:
        yield reader
    finally:
        reader.leave()


class Reader:
    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder = folder
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NINEFOLD_")},
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONUNBUFFERED": "1",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "XDG_CACHE_HOME": str(folder / ".cache"),
            "no_proxy": "*",
        }
        self._ports = (free_port(), free_port())
        self._known: Known = {}
        self._contract: Path | None = None
        self._service: _Terminal | None = None
        self._follows = False
        self._terminal = _Terminal(["bash", "--noprofile", "--norc"], folder, self._environment)

    def do(self, step: Step) -> str | None:
        """Nothing if it went as the page shows it; else what is to be shown."""
        before = self._followed(), self._saved()
        came = self._do(step)
        if before[1] != self._saved():
            self._wait_for_dev(before[0])
        return came

    def _do(self, step: Step) -> str | None:
        match step:
            case Command():
                came = self._run(step.command)
                if is_shown(step.output, came, self._known):
                    return None
                learn(step.output, came, self._known)
                return shortened(step.output, wrapped(as_on_the_page(came, self._known)))
            case Log():
                return self._missing(step.lines)
            case Parts():
                self._write(with_parts(self._text(), step.text))
            case _:
                self._write(exchanged(self._text(), step))
        return None

    def leave(self) -> None:
        for terminal in (self._service, self._terminal):
            if terminal is not None:
                terminal.close()

    def _run(self, command: str) -> str:
        if new := _NEW.match(command):
            self._contract = self._folder / new[1]
        command = self._here(in_this_run(command, self._known))
        if _SERVES.match(command):
            return self._with_the_ports_of_the_page(self._serve(command))
        self._terminal.write(f"{command}\nprintf '\\0\\n'\n")
        return self._with_the_ports_of_the_page(
            self._terminal.until(lambda line: line.endswith(_END)).replace(_END, "")
        )

    def _serve(self, command: str) -> str:
        """In the other terminal; what serves there already is ended before."""
        if self._service is not None:
            self._service.close()
        self._follows = command.startswith("ninefold dev")
        command = command.replace("make serve", "ninefold serve examples/orders.md --development-issuer")
        for option, port in (("listen", self._ports[0]), ("operator", self._ports[1])):
            command += "" if f"--{option}" in command else f" --{option} 127.0.0.1:{port}"
        self._service = _Terminal(["bash", "-c", f"exec {command}"], self._folder, self._environment)
        # It answers when it has said what it has to say; or it has nothing to serve, and ends.
        return self._service.until(lambda line: False, lambda: _is_ready(self._ports[1]))

    def _followed(self) -> int:
        """How many saves `ninefold dev` has spoken of, if it runs."""
        return len(_FOLLOWED.findall(self._service.so_far())) if self._service and self._follows else -1

    def _saved(self) -> bytes:
        return self._contract.read_bytes() if self._contract and self._contract.exists() else b""

    def _wait_for_dev(self, spoken: int) -> None:
        """A reader looks whether `ninefold dev` has seen the save before going on."""
        if (service := self._service) is not None and spoken >= 0:
            until(
                lambda: spoken != self._followed(),
                lambda: f"nothing is said of the save after\n{service.so_far()}",
            )

    def _missing(self, lines: str) -> str | None:
        assert self._service is not None, "nothing serves"
        wanted = lines.splitlines()
        service = self._service

        def said() -> list[str]:
            return self._with_the_ports_of_the_page(service.so_far()).splitlines()

        def is_said() -> bool:
            lines = said()
            return all(any(is_shown(line, each, self._known) for each in lines) for line in wanted)

        try:
            until(is_said)
        except AssertionError:
            return as_on_the_page("\n".join(said()[-len(wanted) :]) + "\n", self._known)
        return None

    def _text(self) -> str:
        assert self._contract is not None, "there is no contract to edit"
        return self._contract.read_text(encoding="utf-8")

    def _write(self, text: str) -> None:
        assert self._contract is not None
        self._contract.write_text(text, encoding="utf-8")

    def _here(self, text: str) -> str:
        """The page says 8080 and 8081; here they may be in use."""
        for shown, free in zip((8080, 8081), self._ports, strict=True):
            text = re.sub(rf"(?<=localhost:|127\.0\.0\.1:){shown}\b", str(free), text)
        return text

    def _with_the_ports_of_the_page(self, text: str) -> str:
        for shown, free in zip((8080, 8081), self._ports, strict=True):
            text = re.sub(rf"\b{free}\b", str(shown), text)
        return text


class _Terminal:
    """A process, and all that it says, in the order in which it says it."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        self._said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def write(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def until(self, is_last: Callable[[str], bool], is_ready: Callable[[], bool] = lambda: False) -> str:
        """What it says until a line is the last one, or it has ended, or is ready and silent for a moment."""
        said: list[str] = []
        ready = False
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                line = self._lines.get(timeout=0.1)
            except queue.Empty:
                if ready:
                    return "".join(said)
                ready = is_ready()
                continue
            if line is None:
                return "".join(said)
            said.append(line)
            if is_last(line.rstrip("\n")):
                return "".join(said)
        raise AssertionError(f"nothing more came for {SECONDS} seconds after:\n{''.join(said)}")

    def so_far(self) -> str:
        return "".join(self._said)

    def close(self) -> None:
        """End it as an operator does."""
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._said.append(line)
            self._lines.put(line)
        self._lines.put(None)


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=1) as response:
            return bool(response.status == 200)
    except OSError:
        return False
