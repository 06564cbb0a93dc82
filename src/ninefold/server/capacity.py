"""How much work the service takes at once. What is beyond it is told so at once, and costs next to nothing.

These bounds protect the machine, and no contract states them. With those on heads (`protocol.py`), on one body
(`service.py`) and on the works that wait for the writer (`database/writer.py`), no queue grows without end.
"""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.database.protocol import Unavailable

REQUESTS = 5_000
"""Requests on their way, from the end of the head to the end of the response."""

BODY_BYTES = 256 * 1024 * 1024
"""Bytes of all bodies of requests on their way."""

STALLED_SECONDS = 30.0
"""Seconds without a byte of a body that is on its way; then its connection is closed."""


@dataclass(slots=True)
class Capacity:
    """What is on its way, and how much may be."""

    most_requests: int = REQUESTS
    most_bytes: int = BODY_BYTES
    stalled_seconds: float = STALLED_SECONDS
    requests: int = 0
    bytes: int = 0

    @property
    def is_used_up(self) -> bool:
        """Whether there are as many requests as there may be."""
        return self.requests >= self.most_requests

    def hold(self, size: int) -> None:
        """More bytes of a body. Raises Unavailable where they are too many."""
        if self.bytes + size > self.most_bytes:
            raise Unavailable("too many bodies are on their way")
        self.bytes += size

    def release(self, size: int) -> None:
        self.bytes -= size
