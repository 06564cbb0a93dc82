"""Connections to others of which so many bytes are read and no more, whatever they are.

An answer may be preceded by others without end (1xx, RFC 9110 15.2), its chunks may have extensions of any length, and
who is kept connected may speak unasked. Nothing of that is content, and each of these was read for as long as it came,
without a break. To be imported where `aiohttp` is loaded already.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler

HEAD_BYTES = 64 * 1024
"""What comes beside the content, at most."""


class Connector(aiohttp.TCPConnector):
    """`most`: bytes of an answer's content."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self._factory = cast("partial[ResponseHandler]", partial(_Bounded, self._loop, most + HEAD_BYTES))


class _Bounded(ResponseHandler):
    """`most`: bytes that are read from one request to the next."""

    def __init__(self, loop: asyncio.AbstractEventLoop, most: int) -> None:
        super().__init__(loop)
        self._most = self._left = most

    def set_response_params(self, **options: Any) -> None:
        self._left = self._most
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        taken = data[: self._left]
        self._left -= len(taken)
        super().data_received(taken)
        if len(taken) < len(data) and self.transport is not None:
            self.transport.abort()
