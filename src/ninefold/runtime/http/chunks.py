"""Chunked bodies (RFC 9112 7.1), read as strictly as heads are, and what is told where bytes are no request."""

from __future__ import annotations

import re
from typing import NoReturn

TRAILER_BYTES = 16 * 1024
"""Bytes of what follows the last chunk; nothing of it is used."""

CHUNK_LINE_BYTES = 4 * 1024
"""Bytes of the line before a chunk, with its extensions."""

CHUNK_EXCESS_BYTES = 64 * 1024
"""Bytes of lines before chunks, beyond 16 for each and one for each byte of content."""

TURN_STEPS = 3_000
"""Steps through chunks that are taken in one turn; each chunk has three."""

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"


class Refused(Exception):
    """The bytes are no request, or it is in doubt which. `status`: of the answer; `why`: without anything that came."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.why = why
        self.status = status


_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*+;[\t\x20-\x7e\x80-\xff]*+)?\r\n")
_TRAILER_LINE = re.compile(rb"%s:[\t\x20-\x7e\x80-\xff]*+\r\n" % TOKEN)


class Chunks:
    """A chunked body (RFC 9112 7.1). Extensions and trailers are read past."""

    def __init__(self) -> None:
        self._left = 0
        self._in_chunk = False
        self._in_trailer = False
        self._trailer_bytes = 0
        self._excess = 0
        self._refused: Refused | None = None
        self.ended = False

    def content(self, data: bytearray, most: int) -> bytes:
        if self._refused is not None:
            raise self._refused
        pieces: list[bytes] = []
        at = size = steps = 0
        while not self.ended and size < most and steps < TURN_STEPS:
            steps += not self._in_trailer
            if self._left:
                piece = bytes(data[at : at + min(self._left, most - size)])
                if not piece:
                    break
                pieces.append(piece)
                at, size, self._left = at + len(piece), size + len(piece), self._left - len(piece)
                continue
            try:
                next_at = self._past_end(data, at) if self._in_chunk else self._past_line(data, at)
            except Refused as refused:
                if not pieces:
                    raise
                self._refused = refused  # what came before it comes before it
                break
            if next_at == at:
                break
            at = next_at
        del data[:at]
        return b"".join(pieces)

    def _past_end(self, data: bytearray, at: int) -> int:
        end = bytes(data[at : at + 2])
        if not b"\r\n".startswith(end):
            raise Refused("a chunk does not end where it says")
        if len(end) < 2:
            return at
        self._in_chunk = False
        return at + 2

    def _past_line(self, data: bytearray, at: int) -> int:
        most = TRAILER_BYTES - self._trailer_bytes if self._in_trailer else CHUNK_LINE_BYTES
        end = data.find(b"\n", at, at + most)
        if end < 0:
            if len(data) - at >= most:
                raise Refused("what stands around the chunks of the body is too long")
            return at
        line = bytes(data[at : end + 1])
        if self._in_trailer:
            self._trailer(line)
        else:
            self._size(line)
        return end + 1

    def _size(self, line: bytes) -> None:
        found = _CHUNK_LINE.fullmatch(line)
        if found is None:
            self._malformed()
        self._left = int(found[1], 16)
        self._in_chunk, self._in_trailer = self._left > 0, self._left == 0
        self._excess = max(self._excess + len(line) - 16 - self._left, 0)
        if self._excess > CHUNK_EXCESS_BYTES:
            raise Refused("what stands around the chunks of the body is too long")

    def _trailer(self, line: bytes) -> None:
        self._trailer_bytes += len(line)
        if line == b"\r\n":
            self.ended = True
        elif _TRAILER_LINE.fullmatch(line) is None:
            self._malformed()

    def _malformed(self) -> NoReturn:
        raise Refused("the body is not chunked as it says")
