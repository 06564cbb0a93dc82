"""`python -m tests.postgresql.off SECONDS serve …`: `ninefold` on a machine whose clock is so far ahead from SIGUSR1 on
(or behind, where there are less than none), as programs in Python ask for it. The clock that only grows goes on."""

from __future__ import annotations

import datetime
import signal
import sys
import time
from typing import Any

_real = datetime.datetime
_time_ns = time.time_ns
_ahead = 0


class _Kind(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _real)


class _Off(_real, metaclass=_Kind):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return _real.now(tz) + datetime.timedelta(seconds=_ahead)


def _set(seconds: int) -> None:
    global _ahead
    _ahead = seconds
    print("off", flush=True)


if __name__ == "__main__":
    wanted = int(sys.argv.pop(1))
    signal.signal(signal.SIGUSR1, lambda *_: _set(wanted))
    datetime.datetime = _Off  # type: ignore[misc]
    time.time_ns = lambda: _time_ns() + _ahead * 1_000_000_000
    time.time = lambda: time.time_ns() / 1e9
    from ninefold.cli import main

    sys.exit(main())
