"""Requests out of the bytes of a connection, framed as RFC 9112 says and in no other way.

Where two readers of the same bytes could come to different requests, one of them can be made to run what the other took
for a body. So this reader knows one grammar and no leniencies: a line ends with CRLF, a body is as long as one
`Content-Length` or its chunks say, and `Upgrade` changes nothing (RFC 9110 7.8): of a request without a body that is a
whole handshake of WebSocket, it is told that it is one. What is in doubt is `Refused`, and what follows it on its
connection is not read. It opens nothing and waits for nothing: what comes of the bytes is the same in whatever pieces
they come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from ninefold.runtime.http.chunks import TOKEN, Chunks, Refused
from ninefold.runtime.http.known import DECIDES, KNOWN_BYTES, Known, Said, length_of
from ninefold.runtime.messages.message import HEAD_BYTES, joined
from ninefold.runtime.messages.notes import Notes

HEAD_FIELDS = 1_000
"""Field lines of a head."""


class Head(Struct, frozen=True):
    """`path` and `query` as sent; `said`: what its fields say."""

    method: str
    path: bytes
    query: bytes
    version: str
    said: Said

    @property
    def key(self) -> bytes | None:
        """That of the handshake of WebSocket that it is; None: it is none."""
        return self.said.handshake if self.method == "GET" else None


class Requests:
    """The requests of one connection, one after another: `head`, then `content` until it has `ended`."""

    def __init__(self, known: Known | None = None) -> None:
        """`known`: where the fields of heads are kept, for several connections; None: they are not."""
        self._known = known
        self._bytes = bytearray()
        self._skipped = 0
        self._scanned = 0
        self._line: _Line | None = None
        self._left = 0
        self._chunks: Chunks | None = None
        self.ended = True

    @property
    def waiting(self) -> int:
        """Bytes that have come and were not read yet."""
        return len(self._bytes)

    @property
    def is_between(self) -> bool:
        """Whether the last request has ended, and nothing has come of the next one."""
        return self.ended and not self._bytes

    def _most(self) -> int:
        """Bytes of a head that may still come behind empty lines."""
        return max(HEAD_BYTES - self._skipped, 0) if self._skipped else HEAD_BYTES

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def head(self) -> Head | None:
        """The head of the next request; None: it has not come whole. To be asked for when the last one has ended.
        Raises Refused."""
        if not self._bytes:
            return None
        if self._line is None and self._bytes[0] == _CR:
            self._skip_empty_lines()
        line, scanned, most = self._line, self._scanned, self._most()
        # Of what is as long as most heads a copy is sliced faster.
        data = bytes(self._bytes) if len(self._bytes) <= KNOWN_BYTES else self._bytes
        if line is None:
            end = data.find(b"\n", scanned, most)
            if end < 0:
                self._wait(_NOT_IN_A_REQUEST_LINE, "the request line is none")
                return None
            line = self._line = _request_line(bytes(data[: end + 1]))
            scanned = self._scanned = end - 1
        end = data.find(b"\r\n\r\n", max(scanned - 3, 0), most)
        if end < 0:
            self._wait(_BARE_LF, "a line ends without CR")
            return None
        said = self._said(line, bytes(data[line.size : end]))
        length = said.length
        del self._bytes[: end + 4]
        self._line, self._scanned, self._skipped = None, 0, 0
        self._left = length or 0
        self._chunks = Chunks() if length is None else None
        self.ended = length == 0
        return Head(line.method, line.path, line.query, line.version, said)

    def _said(self, line: _Line, block: bytes) -> Said:
        """What the fields say. That the same bytes say the same is used where they are few, and come again."""
        known = self._known
        if known is None or not _may_be_known(line):
            return _said(line, block, None)
        return known.get(block) or known.like(block) or _noted(line, block, known)

    def whole(self, data: bytes) -> tuple[Head, bytes] | None:
        """What comes at once and alone, and asks for nothing but its response: its head, as `head` would find it, and
        its body. None: it is none of these, or nothing that is served, and to be fed; nothing of it is taken."""
        known = self._known
        if known is None or self._bytes or not self.ended or self._skipped or len(data) > HEAD_BYTES:
            return None
        # Fields that are known, to the end of all that has come: of these nothing is looked at but the request line.
        end = data.find(b"\r\n") + 2
        said = known.get(data[end:-4]) if data.endswith(b"\r\n\r\n") else None
        if said is not None and said.plainly == 0:
            line = _PLAIN_LINE.fullmatch(data, 0, end)
            if line is None:
                return None
            name, path, query = line.groups(b"")
            return Head(name.decode("ascii"), path, query, "1.1", said), b""
        found = _WHOLE.match(data)
        if found is None:
            return None
        # Fields that are known may be the beginning of others: that they end says nothing but the empty line.
        name, path, query, block = found.groups(b"")
        method, content = name.decode("ascii"), data[found.end() :]
        said = known.get(block) or known.like(block)
        if said is None:
            try:
                said = _noted(_Line(method, path, query, "1.1", None, data.index(b"\n") + 1), block, known)
            except Refused:
                return None
        if said.plainly != len(content):
            return None
        return Head(method, path, query, "1.1", said), content

    def content(self, most: int) -> bytes:
        """What has come of the body, about `most` bytes of it at once; empty where nothing has. Raises Refused."""
        if self._chunks is not None:
            content = self._chunks.content(self._bytes, most)
            self.ended = self._chunks.ended
            return content
        content = bytes(self._bytes[: min(self._left, most)])
        del self._bytes[: len(content)]
        self._left -= len(content)
        self.ended = self._left == 0
        return content

    def rest(self, most: int) -> bytes:
        """What has come, at most `most` bytes of it at once, where it is of another protocol now."""
        content = bytes(self._bytes[:most])
        del self._bytes[:most]
        return content

    def _skip_empty_lines(self) -> None:
        """Before a request line there may be empty ones (RFC 9112 2.2)."""
        found = _EMPTY_LINES.match(self._bytes)
        size = 0 if found is None else found.end()
        del found
        if size:
            del self._bytes[:size]
            self._scanned = 0
            self._skipped += size

    def _wait(self, impossible: re.Pattern[bytes], why: str) -> None:
        """Nothing is waited for that could not become a head any more."""
        data, most = self._bytes, self._most()
        if impossible.search(data, max(self._scanned - 1, 0), most):
            raise Refused(why)
        if len(data) > most:
            raise Refused("the head is too long", 431)
        self._scanned = len(data)


class _Line(Struct, frozen=True):
    """A request line. `authority`: of a target that is a whole URI, which counts for `Host`. `size`: its bytes."""

    method: str
    path: bytes
    query: bytes
    version: str
    authority: bytes | None
    size: int


_CR = 13
_EMPTY_LINES = re.compile(rb"(?:\r\n)*")
_NOT_IN_A_REQUEST_LINE = re.compile(rb"[^\x20-\x7e\r]|\r[^\n]")
_BARE_LF = re.compile(rb"[^\r]\n")
_REQUEST_LINE = re.compile(rb"(%s) ([\x21\x22\x24-\x7e]++) HTTP/([0-9])\.([0-9])\r\n" % TOKEN)
_PLAIN = rb"(?!CONNECT )(%s) (/[\x21\x22\x24-\x3e\x40-\x7e]*+)(?:\?([\x21\x22\x24-\x7e]*+))? HTTP/1\.1\r\n" % TOKEN
_PLAIN_LINE = re.compile(_PLAIN)
_WHOLE = re.compile(_PLAIN + rb"(?:([^\r\n][^\r]*+(?:\r(?!\n\r\n)[^\r]*+)*)\r\n)?\r\n")
_ABSOLUTE = re.compile(rb"https?://([^/?@]++)(/[^?]*+)?(?:\?(.*+))?", re.IGNORECASE)
_AUTHORITY = rb"(?:\[[0-9A-Fa-f:.]++\]|[A-Za-z0-9\-._~!$&'()*+,;=%]*+)(?::[0-9]*+)?"
_HOST = re.compile(_AUTHORITY)
_FIELDS = re.compile(rb"(?:%s:[\t\x20-\x7e\x80-\xff]*+\r\n)*" % TOKEN)
_KEY = re.compile(rb"[A-Za-z0-9+/]{21}[AQgw]==")
_CODING = re.compile(TOKEN)


def fields_are_sound(block: bytes) -> bool:
    """Whether these are field lines (RFC 9112 5), each with its CRLF: no folded lines, no spaces before a colon."""
    return _FIELDS.fullmatch(block) is not None


def _request_line(line: bytes) -> _Line:
    """RFC 9112 3; a method is any token, and which are allowed is for others to say (RFC 9110 9.1)."""
    plain = _PLAIN_LINE.fullmatch(line)
    if plain is not None:  # as all others would find it
        name, asked, given = plain.groups(b"")
        return _Line(name.decode("ascii"), asked, given, "1.1", None, len(line))
    found = _REQUEST_LINE.fullmatch(line)
    if found is None:
        raise Refused("the request line is none")
    method, target, major, minor = found[1].decode("ascii"), found[2], found[3], found[4]
    if major != b"1":
        raise Refused("the request is of another version of HTTP", 505)
    version = "1.0" if minor == b"0" else "1.1"
    authority = None
    if target.startswith(b"/"):
        path, _, query = target.partition(b"?")
    elif whole := _ABSOLUTE.fullmatch(target):
        server_wide = method == "OPTIONS" and whole[2] is None and whole[3] is None  # RFC 9112 3.2.4
        authority, path, query = whole[1], b"*" if server_wide else whole[2] or b"/", whole[3] or b""
    elif (method == "OPTIONS" and target == b"*") or (method == "CONNECT" and _HOST.fullmatch(target)):
        path, query = target, b""
    else:
        raise Refused("the request's target is none")
    return _Line(method, path, query, version, authority, len(line))


def _may_be_known(line: _Line) -> bool:
    """Whether what the fields say is all that is said of the request but its method, its path and its query."""
    return line.authority is None and line.version == "1.1" and line.method != "CONNECT"


def _noted(line: _Line, block: bytes, known: Known) -> Said:
    """What fields say that nobody knows yet."""
    said = _said(line, block, Notes(known.alike))
    known.put(block, said)
    return said


def _said(line: _Line, block: bytes, notes: Notes | None) -> Said:
    """`block`: the lines of the fields, without the end of the last one."""
    lines = block.split(b"\r\n") if block else []
    if lines and not fields_are_sound(block + b"\r\n"):
        raise Refused("a header field is none")
    if len(lines) > HEAD_FIELDS:
        raise Refused("the head has too many fields", 431)
    fields: list[tuple[bytes, bytes]] = []
    deciding: dict[bytes, list[bytes]] = {}
    for each in lines:
        name, _, value = each.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        if name in DECIDES:
            deciding.setdefault(name, []).append(value)
        if name == b"upgrade":
            continue  # it is for this connection alone
        fields.append((name, value))
    _check_host(line, deciding.get(b"host", []))
    if line.authority is not None:
        fields = [(b"host", line.authority), *(each for each in fields if each[0] != b"host")]
    options = _listed(deciding.get(b"connection", ()))
    length = _length(line, deciding)
    return Said(
        fields,
        length,
        line.version == "1.1" and b"close" not in options and line.method != "CONNECT",
        line.version == "1.1" and [each.lower() for each in deciding.get(b"expect", ())] == [b"100-continue"],
        _key(deciding) if (line.version, length) == ("1.1", 0) and b"upgrade" in options else None,
        joined(fields),
        notes,
    )


def _listed(values: Iterable[bytes]) -> set[bytes]:
    return {each.strip(b" \t").lower() for value in values for each in value.split(b",")}


def _key(deciding: dict[bytes, list[bytes]]) -> bytes | None:
    """RFC 6455 4.2.1. What is not whole is none, and may be ignored."""
    keys = deciding.get(b"sec-websocket-key", [])
    whole = b"websocket" in _listed(deciding.get(b"upgrade", ())) and deciding.get(b"sec-websocket-version") == [b"13"]
    return keys[0] if whole and len(keys) == 1 and _KEY.fullmatch(keys[0]) else None


def _check_host(line: _Line, hosts: list[bytes]) -> None:
    """RFC 9112 3.2."""
    if len(hosts) > 1 or (not hosts and line.version == "1.1"):
        raise Refused("Host is missing, or there twice")
    for each in (*hosts, *(() if line.authority is None else (line.authority,))):
        if _HOST.fullmatch(each) is None:
            raise Refused("Host is none")


def _length(line: _Line, deciding: dict[bytes, list[bytes]]) -> int | None:
    """RFC 9112 6.3, and of what it leaves to the recipient the strict way."""
    codings, lengths = deciding.get(b"transfer-encoding"), deciding.get(b"content-length")
    if codings is not None:
        if lengths is not None:
            raise Refused("both Transfer-Encoding and Content-Length frame the body")
        if line.version == "1.0":
            raise Refused("Transfer-Encoding in HTTP/1.0")
        names = [each.strip(b" \t").lower() for value in codings for each in value.split(b",")]
        if names == [b"chunked"]:
            return None
        if names[-1] == b"chunked" and names.count(b"chunked") == 1 and all(map(_CODING.fullmatch, names)):
            raise Refused("the body has a transfer coding besides chunked", 501)
        raise Refused("Transfer-Encoding does not end with chunked")
    if lengths is None:
        return 0
    if len(lengths) > 1:
        raise Refused("Content-Length is there twice")
    length = length_of(lengths[0])
    if length is None:
        raise Refused("Content-Length is none")
    return length
