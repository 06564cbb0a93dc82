"""Which reverse proxies were not there is said, whatever else is printed."""

from __future__ import annotations

import pytest
from tests.door.fronts import FRONTS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if missing := [front.name for front in FRONTS if front.program is None]:
        terminalreporter.write_line(f"door: not tried behind {' and '.join(missing)}, not on the PATH")
