"""Where a run of the tests is: a line every few seconds in place of a dot a test (`-p tests.progress`).

It tells the seconds so far, how many tests have run and failed, and those that have been running for a while; a failure
is told when it happens. The lines are the same on a terminal, in a file and in the log of a machine.
"""

from __future__ import annotations

import threading
import time
from typing import Final

import pytest
from tests import slices
from tests.postgresql import versions

EVERY: Final = 10.0
"""Seconds from line to line."""

A_WHILE: Final = 5.0
"""Seconds for which a test has run before it is named."""


class Progress:
    """The tests that run, have run and failed; of the workers of pytest-xdist too, whose reports come to the master."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = time.monotonic()
        self._running: dict[str, float] = {}
        self._run, self._failed, self._all = 0, 0, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write_lines, daemon=True)

    def pytest_sessionstart(self) -> None:
        self._write(f"{slices.told()}; {versions.told([versions.VERSION])}")
        self._thread.start()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._all = len(items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._all = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)
        self._run += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed += 1
            self._write(f"FAILED {report.nodeid}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for what came as it should."""
        if report.passed:
            return ("passed" if report.when == "call" else "", "", "")
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        return None

    def pytest_sessionfinish(self) -> None:
        self._ended.set()
        self._thread.join()
        self._write(self._line())

    def _write_lines(self) -> None:
        while not self._ended.wait(EVERY):
            self._write(self._line())

    def _line(self) -> str:
        now = time.monotonic()
        where = f"{self._run} of {self._all} tests, {self._failed} failed" if self._all else "looking for tests"
        said = f"{now - self._began:5.0f} s: {where}"
        running = self._running.copy()  # in one step, so that a test that begins meanwhile does no harm
        slow = {name: now - since for name, since in running.items() if now - since >= A_WHILE}
        return ", ".join([said, *(f"{seconds:.0f} s in {name}" for name, seconds in slow.items())])

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        reporter.ensure_newline()
        reporter.write_line(line)
        reporter.flush()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config), "progress of the run")
