"""Requests and responses as the interpreter knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class Request:
    """`target` is path and query as sent. Names of headers are in lower case. `body` None: none is sent.
    `address` is the client's (RFC 5737)."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    address: str = "192.0.2.1"


NOTHING: Final = object()
"""The body of a response without content."""


@dataclass(frozen=True)
class Response:
    """`body` is the JSON value; an entity tag or a cursor in it is a text of the interpreter's own making."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = NOTHING
