"""Where the time and everything random come from: one place, so that tests can say both."""

from __future__ import annotations

import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ninefold.expressions import functions


def _clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Sources:
    """`clock` gives the time with its zone, `random_bytes` as many bytes as asked for. `elapsed` gives nanoseconds that
    only ever grow, from any beginning: how long ago something was is measured by it, since a clock can be set."""

    clock: Callable[[], datetime] = _clock
    random_bytes: Callable[[int], bytes] = secrets.token_bytes
    elapsed: Callable[[], int] = time.monotonic_ns

    def now(self) -> str:
        """The time as a timestamp value (see `ninefold.values`)."""
        return self.clock().astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"

    def of_expressions(self) -> functions.Sources:
        """What `uuid()`, `token()` and `random(n)` take their bytes from."""
        return functions.Sources(self.random_bytes)

    def revision(self) -> str:
        """What tells one state of a row from another: 96 random bits, URL-safe."""
        return urlsafe_b64encode(self.random_bytes(12)).decode("ascii")
