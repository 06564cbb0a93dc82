"""What the tests cost: CPU seconds of each file and of each test, with the processes that it started and awaited.

`make test-costs` runs the suite with this plugin (`-p tests.costs`), on any number of workers, and prints the dearest;
with NINEFOLD_BLESS=1 it writes `dear.txt` anew (`tests/slices.py`). CPU seconds hardly depend on what else the machine
does. What a fixture of a module or of the whole run costs is told of the test that asked first; a process that is still
running when its test ends, of the test at whose end it is awaited.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SHOWN: Final = int(os.environ.get("NINEFOLD_COSTS", "40"))
"""How many files and how many tests are told of."""

BLESS: Final = bool(os.environ.get("NINEFOLD_BLESS"))
DEAR_TESTS: Final = Path(__file__).parent / "dear.txt"
LAWS: Final = "tests/architecture/"
DEAR_SECONDS: Final = 1.0
DEAR_IN_ALL: Final = 3.0
"""CPU seconds of a test that is dear, and of all that one is tried with."""


def spent() -> float:
    """The CPU seconds of this process, of all its threads, and of its children that ended."""
    return sum(os.times()[:4])


class _Own:
    """What the tests of this process cost; whoever runs it, alone or as a worker of pytest-xdist."""

    def __init__(self) -> None:
        self.last = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self.last = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        now = spent()
        report.cpu = now - self.last  # type: ignore[attr-defined]  # what is set here goes from a worker to its master
        self.last = now
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        told = getattr(session.config, "workeroutput", None)
        if told is not None:
            told["cpu"] = spent()


class _Told:
    """All tests of all workers, and the summary."""

    def __init__(self) -> None:
        self.tests: dict[str, float] = defaultdict(float)
        self.files: dict[str, float] = defaultdict(float)
        self.workers = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost = getattr(report, "cpu", 0.0)
        self.tests[report.nodeid] += cost
        self.files[report.nodeid.partition("::")[0]] += cost

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self.workers += getattr(node, "workeroutput", {}).get("cpu", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.write_line
        of_tests = sum(self.tests.values())
        # The workers are children of this process: once they are awaited, they are counted twice.
        whole = max(spent(), self.workers + of_tests * (not self.workers))
        write(f"{whole:.0f} CPU seconds, {of_tests:.0f} of them in {len(self.tests)} tests")
        for title, costs in (("file", self.files), ("test", self.tests)):
            write("")
            write(f"the dearest {title}s, in CPU seconds:")
            for cost, name in sorted(((cost, name) for name, cost in costs.items()), reverse=True)[:SHOWN]:
                write(f"{cost:8.2f}  {name}")
        if BLESS:
            DEAR_TESTS.write_text("".join(f"{name}\n" for name in sorted(self._dear())), encoding="utf-8")

    def _dear(self) -> Iterator[str]:
        """Those that take turns, in what does not run all of them. The laws of the house do not: what breaks one lands
        otherwise, and they share what they read."""
        whole: dict[str, list[float]] = defaultdict(list)
        for name, cost in self.tests.items():
            if not name.startswith(LAWS):
                whole[name.partition("[")[0]].append(cost)
        return (name for name, costs in whole.items() if max(costs) >= DEAR_SECONDS or sum(costs) >= DEAR_IN_ALL)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Own(), "costs of tests")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Told(), "costs of all tests")
