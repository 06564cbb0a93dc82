"""What another process does, so that nothing of it is kept by this one (`ninefold.cli.processes.apart`)."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from ninefold.cli.processes import apart


@pytest.fixture
def several_threads() -> Iterator[None]:
    """Whoever has one thread alone is copied; else a process begins anew."""
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    yield
    ended.set()
    other.join()


@pytest.mark.usefixtures("several_threads")
def test_another_process_does_it() -> None:
    assert apart(os.getpid) != os.getpid()
    assert apart(operator.mul, "ab", 3) == "ababab"


@pytest.mark.usefixtures("several_threads")
def test_what_it_raises_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        apart(operator.truediv, 1, 0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("several_threads")
def test_what_cannot_be_handed_over_is_made_here(capfd: pytest.CaptureFixture[str]) -> None:
    assert type(apart(threading.Lock)) is type(threading.Lock())
    assert capfd.readouterr() == ("", "")


def test_what_has_one_thread_is_done_by_a_process_too() -> None:
    """In a program of its own, since tests may have more threads. No process is left behind."""
    program = """
import operator, os, threading
from ninefold.cli.processes import apart
assert apart(os.getpid) != os.getpid()
assert apart(os.getppid) == os.getpid()
assert type(apart(threading.Lock)) is type(threading.Lock())
try:
    apart(operator.truediv, 1, 0)
except ZeroDivisionError:
    pass
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("alone")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("alone\n", "")


def test_where_no_process_can_be_had_it_is_done_here() -> None:
    program = """
import os
from ninefold.cli import processes
def none(*_, **__):
    raise BlockingIOError
os.fork = processes.subprocess.run = none
assert processes.apart(os.getpid) == os.getpid()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
