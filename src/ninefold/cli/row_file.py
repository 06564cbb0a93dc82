"""A file of rows: JSON (RFC 8259), or one JSON object a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.messages.problems import pointer

LARGEST = 256 * 1024 * 1024
"""Bytes of a file that are read: all of it is added in one transaction."""


class NotRows(Exception):
    """The file holds no rows; the message says why, `help` advises."""

    def __init__(self, message: str, *help: str) -> None:
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True)
class GivenRow:
    """`pointer` says where in the file the row stands (RFC 6901); of a file with an object a line, its line."""

    resource: str
    pointer: str
    document: Any


def row_file(path: str, resource: str | None) -> list[GivenRow]:
    """The rows of a file, in its order. `resource`: whose rows an array holds. Raises NotRows."""
    data = _data(path)
    try:
        document = parse(data)
    except ValueError:
        return list(_lines(data, resource))
    if isinstance(document, dict) and resource is None:
        return [row for name, rows in document.items() for row in _array(rows, name, (name,))]
    if resource is None:
        raise NotRows("it is an array of rows of no resource that is named", "ninefold add FILE RESOURCE --from FILE")
    if isinstance(document, dict):
        if list(document) == [resource]:
            return list(_array(document[resource], resource, (resource,)))
        return [GivenRow(resource, "line 1", document)]
    return list(_array(document, resource, ()))


def _array(rows: Any, resource: str, path: tuple[str, ...]) -> Iterator[GivenRow]:
    if not isinstance(rows, list):
        raise NotRows(f"{pointer(path) or 'it'} is not an array of rows", _FORMS)
    for index, row in enumerate(rows):
        yield GivenRow(resource, pointer((*path, index)), row)


_FORMS = 'rows are [{…}, {…}], or {"RESOURCE": [{…}], …} where no resource is named'


def _lines(data: bytes, resource: str | None) -> Iterator[GivenRow]:
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = parse(line)
        except ValueError:
            raise NotRows(f"line {number} is not JSON, and neither is the file as a whole", _FORMS) from None
        if resource is None:
            raise NotRows("it holds rows of no resource that is named", "ninefold add FILE RESOURCE --from FILE")
        yield GivenRow(resource, f"line {number}", row)


def _data(path: str) -> bytes:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(path).open("rb") as opened:
                data = opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        words = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is no name of a file"
        raise NotRows(f"it cannot be read: {words}") from None
    if len(data) > LARGEST:
        raise NotRows("it is larger than a file of rows may be (256 MiB)", "add it in several files")
    return data
