"""A client of server-sent events, as WHATWG HTML 9.2.6 has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Event:
    """`id`: where a stream goes on that is resumed from it; it says nothing to anybody else."""

    id: str
    kind: str
    data: Any


class Stream:
    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def take(self, count: int) -> list[Event]:
        """The next so many events. Raises where the stream ends before, or nothing comes."""
        found: list[Event] = []
        fields: dict[str, str] = {}
        while len(found) < count:
            line = next(self._lines)
            if line == "":
                if "data" in fields:
                    found.append(Event(fields["id"], fields["event"], json.loads(fields["data"])))
                fields = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
        return found

    def rest(self) -> list[str]:
        """The lines until the stream ends."""
        return [line for line in self._lines if line and not line.startswith(":")]


@contextmanager
def listening(
    http: httpx.Client, headers: dict[str, str], after: int | str | None = None, path: str = "/events"
) -> Iterator[Stream]:
    more = {} if after is None else {"Last-Event-ID": str(after)}
    with http.stream("GET", path, headers={**headers, **more}, timeout=60) as response:
        if response.status_code != 200:
            response.read()
        yield Stream(response)
