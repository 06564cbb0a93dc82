"""What comes through the door: bytes, the statuses that they are answered with, and the requests that the service sees.

Nothing here knows how the door is made. A body that looks like a request asks for `/smuggled`, which nobody may ever
see; what is sent behind a request asks for `/hello`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """`answers`: the statuses, in order, of a connection that the client holds open; `sees`: the paths that the service
    is asked for. `ends`: nothing behind it is read. `doubtful`: other doors may read it in another way."""

    name: str
    sent: bytes
    answers: tuple[int, ...]
    sees: tuple[str, ...]
    ends: bool = False
    doubtful: bool = False


HELLO = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
SMUGGLED = b"DELETE /smuggled HTTP/1.1\r\nHost: x\r\nX: "
NOTE = b'{"text": "a"}'
JSON = b"Content-Type: application/json\r\n"


def post(*fields: bytes, body: bytes = b"", path: bytes = b"/notes", version: bytes = b"1.1") -> bytes:
    """A POST with these fields and no others that frame it."""
    lines = b"".join(field + b"\r\n" for field in (b"Host: x", *fields))
    return b"POST " + path + b" HTTP/" + version + b"\r\n" + lines + JSON + b"\r\n" + body


def sized(body: bytes) -> bytes:
    return b"Content-Length: %d" % len(body)


def chunked(body: bytes, size: int = 5) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


TE = b"Transfer-Encoding: chunked"
_CHUNKED = chunked(NOTE)
_BOTH = ("/notes", "/hello")


def _taken(name: str, request: bytes, *statuses: int) -> Attack:
    """A request like any other: what is sent behind it is answered too."""
    path = request.split(b" ")[1].partition(b"?")[0].decode()
    return Attack(name, request + HELLO, (*(statuses or (201,)), 200), (path, "/hello"))


def _refused(name: str, request: bytes, status: int = 400) -> Attack:
    """No request, or one in doubt: it is answered, nothing behind it is read, and the service has not seen it."""
    return Attack(name, request + HELLO, (status,), (), ends=True, doubtful=True)


def _broken(name: str, request: bytes) -> Attack:
    """A body that is not what its head said: the service has seen the head."""
    return Attack(name, request + HELLO, (400,), ("/notes",), ends=True, doubtful=True)


def _upgrades() -> list[Attack]:
    upgrade = (b"Connection: Upgrade", b"Upgrade: foo")
    h2c = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__")
    websocket = (b"Connection: keep-alive, upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13")
    found = []
    for name, fields in (
        ("foo", upgrade),
        ("h2c", h2c),
        ("a websocket", websocket),
        ("TLS", (b"connection:upgrade", b"upgrade: TLS/1.3, foo/2")),
        ("what it does not name in Connection", (b"Upgrade: foo",)),
        ("nothing", (b"Connection: Upgrade",)),
        ("two lines", (b"Connection: keep-alive", b"Connection: Upgrade", b"Upgrade: a", b"Upgrade: b")),
    ):
        found += [
            _taken(f"upgrade to {name}, with a length", post(*fields, sized(NOTE), body=NOTE)),
            _taken(f"upgrade to {name}, a length before it", post(sized(NOTE), *fields, body=NOTE)),
            _taken(f"upgrade to {name}, in chunks", post(*fields, TE, body=_CHUNKED)),
            _taken(f"upgrade to {name}, a request in the body", post(*fields, sized(SMUGGLED), body=SMUGGLED), 400),
            _taken(f"upgrade to {name}, a request in chunks", post(*fields, TE, body=chunked(SMUGGLED, 99)), 400),
            _taken(
                f"upgrade to {name}, without a body",
                b"GET /hello HTTP/1.1\r\nHost: x\r\n" + b"\r\n".join(fields) + b"\r\n\r\n",
                200,
            ),
        ]
    return found


def _lengths() -> list[Attack]:
    size = sized(NOTE)
    return [
        _taken("a length", post(size, body=NOTE)),
        _taken("a length with zeros before it", post(b"Content-Length: 0013", body=NOTE)),
        _taken("no body", post(), 400),
        _refused("both a length and chunks", post(size, TE, body=_CHUNKED)),
        _refused("chunks and a length of none", post(TE, b"Content-Length: 0", body=_CHUNKED)),
        _refused("two lengths", post(size, b"Content-Length: 5", body=NOTE)),
        _refused("one length twice", post(size, size, body=NOTE)),
        _refused("a list of lengths", post(b"Content-Length: 13, 13", body=NOTE)),
        _refused("a length with a sign", post(b"Content-Length: +13", body=NOTE)),
        _refused("a length below nothing", post(b"Content-Length: -1", body=NOTE)),
        _refused("a hexadecimal length", post(b"Content-Length: 0xd", body=NOTE)),
        _refused("a length with a comma", post(b"Content-Length: 13,", body=NOTE)),
        _refused("an empty length", post(b"Content-Length:", body=NOTE)),
        _refused("a length with a space inside", post(b"Content-Length: 1 3", body=NOTE)),
        _refused("a length in other digits", post("Content-Length: １３".encode(), body=NOTE)),
        _refused("a length beyond everything", post(b"Content-Length: " + b"9" * 5000, body=NOTE)),
        _refused("a length that turns round", post(b"Content-Length: 18446744073709551629", body=NOTE)),
        _refused("chunks in HTTP/1.0", post(TE, body=_CHUNKED, version=b"1.0")),
    ]


def _codings() -> list[Attack]:
    found = [
        _taken("chunks", post(TE, body=_CHUNKED)),
        _taken("Chunked", post(b"Transfer-encoding:\tChUnKeD ", body=_CHUNKED)),
    ]
    for value, status in (
        (b"gzip, chunked", 501),
        (b"gzip", 400),
        (b"identity", 400),
        (b"chunked, identity", 400),
        (b"identity, chunked", 501),
        (b"chunked, chunked", 400),
        (b"xchunked", 400),
        (b"chunked;q=1", 400),
        (b'"chunked"', 400),
        (b"chunked,", 400),
        (b"", 400),
        (b",chunked", 400),
        (b"\x0bchunked", 400),
        (b"chunked\x00", 400),
        ("ſchunked".encode(), 400),
    ):
        found.append(_refused(f"the coding {value!r}", post(b"Transfer-Encoding: " + value, body=_CHUNKED), status))
    return [
        *found,
        _refused("two lines of codings", post(TE, b"Transfer-Encoding: identity", body=_CHUNKED)),
        _refused("chunked in two lines", post(TE, TE, body=_CHUNKED)),
    ]


def _lines() -> list[Attack]:
    get = b"GET /hello HTTP/1.1\r\n"
    return [
        _refused("a folded line", post(b"X: a", b" b")),
        _refused("a folded first line", get + b" X: a\r\nHost: x\r\n\r\n"),
        _refused("a folded coding", post(b"Transfer-Encoding:", b" chunked", body=_CHUNKED)),
        _refused("a space before a colon", post(b"Content-Length : 13", body=NOTE)),
        _refused("a tab before a colon", post(b"Transfer-Encoding\t: chunked", body=_CHUNKED)),
        _refused("a line without a colon", post(b"X")),
        _refused("a line without a name", post(b": a")),
        _refused("a name with a space", post(b"X Y: a")),
        _refused("a name with NUL", post(b"X\x00: a")),
        _refused("NUL in a value", post(b"X: a\x00b")),
        _refused("a bare CR in a value", post(b"X: a\rTransfer-Encoding: chunked")),
        _refused("a bare LF in a value", post(b"X: a\nContent-Length: 13", body=NOTE)),
        _refused("bare LFs alone", b"GET /hello HTTP/1.1\nHost: x\n\n"),
        _refused("a bare LF at the end", b"GET /hello HTTP/1.1\r\nHost: x\r\n\n"),
        _refused("a bare CR at the end", b"GET /hello HTTP/1.1\r\nHost: x\r\r\n\r\n"),
        _refused("a delete character", post(b"X: \x7f")),
        _refused("no Host", b"GET /hello HTTP/1.1\r\n\r\n"),
        _refused("two Hosts", b"GET /hello HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n"),
        _refused("a Host that is none", b"GET /hello HTTP/1.1\r\nHost: x/y\r\n\r\n"),
        _refused("a Host of two", b"GET /hello HTTP/1.1\r\nHost: x, y\r\n\r\n"),
        _taken("an empty line before a request", b"\r\n" + HELLO, 200),
        _refused("an empty line of another kind", b"\n" + HELLO),
        _refused("too many fields", get + b"Host: x\r\n" + b"a:\r\n" * 2_000 + b"\r\n", 431),
        _refused("a head that is too long", get + b"Host: x\r\nX: " + b"a" * 65_536 + b"\r\n\r\n", 431),
        _taken("a long head", get + b"Host: x\r\nX: " + b"a" * 60_000 + b"\r\n\r\n", 200),
        _taken("a value of bytes beyond ASCII", get + b"Host: x\r\nX: \xe4\xff\r\n\r\n", 200),
    ]


def _request_lines() -> list[Attack]:
    def line(*words: bytes) -> bytes:
        return b" ".join(words) + b"\r\nHost: x\r\n\r\n"

    end = b"HTTP/1.1"
    return [
        _refused("two spaces", line(b"GET", b"", b"/hello", end)),
        _refused("a tab", b"GET\t/hello HTTP/1.1\r\nHost: x\r\n\r\n"),
        _refused("a space in the target", line(b"GET", b"/hello", b"x", end)),
        _refused("a space at the end", line(b"GET", b"/hello", end, b"")),
        _refused("a space before", line(b"", b"GET", b"/hello", end)),
        _refused("no version", line(b"GET", b"/hello")),
        _refused("HTTP/0.9", b"GET /hello\r\n"),
        _refused("no target", line(b"GET", end)),
        _refused("a version in small letters", line(b"GET", b"/hello", b"http/1.1")),
        _refused("a version of more digits", line(b"GET", b"/hello", b"HTTP/1.10")),
        _refused("HTTP/2.0", line(b"GET", b"/hello", b"HTTP/2.0"), 505),
        _refused("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        _taken("HTTP/1.2", line(b"GET", b"/hello", b"HTTP/1.2"), 200),
        _refused("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        _refused("a target with a fragment", line(b"GET", b"/hello#x", end)),
        _refused("a target with NUL", line(b"GET", b"/hello\x00", end)),
        _refused("a target beyond ASCII", line(b"GET", "/hellö".encode(), end)),
        _refused("a target that is a path without a root", line(b"GET", b"hello", end)),
        _refused("an authority for another method than CONNECT", line(b"GET", b"x:80", end)),
        _refused("an asterisk for another method than OPTIONS", line(b"GET", b"*", end)),
        _refused("a whole URI with a user", line(b"GET", b"http://a@x/hello", end)),
        _refused("a whole URI of another kind", line(b"GET", b"ftp://x/hello", end)),
        Attack("a whole URI", line(b"GET", b"http://y:80/hello?a=b", end) + HELLO, (200, 200), ("/hello", "/hello")),
        Attack("a whole URI without a path", line(b"GET", b"http://y", end) + HELLO, (404, 200), ("/", "/hello")),
        Attack("a whole URI with a query alone", line(b"GET", b"http://y?a", end) + HELLO, (404, 200), ("/", "/hello")),
        _taken("two slashes", line(b"GET", b"//hello", end), 404),
        _taken("the whole service", line(b"OPTIONS", b"*", end), 204),
        Attack("CONNECT", line(b"CONNECT", b"x:80", end) + HELLO, (404,), ("x:80",), ends=True),
        Attack(
            "CONNECT with a body",
            b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n" + sized(SMUGGLED) + b"\r\n\r\n" + SMUGGLED + HELLO,
            (404,),
            ("x:80",),
            ends=True,
        ),
        Attack("CONNECT to a path", line(b"CONNECT", b"/hello", end) + HELLO, (405,), ("/hello",), ends=True),
        *(
            _taken(f"the method {method[:12].decode()}", line(method, b"/hello", end), 405)
            for method in (
                b"get",
                b"Post",
                b"BREW",
                b"PROPFIND",
                b"M-SEARCH",
                b"QUERY",
                b"TRACE",
                b"G",
                b"GETS",
                b"!#$%&'*+-.^_`|~09az",
                b"PRI",
                b"A" * 5_000,
            )
        ),
        *(
            _refused(f"the method {method!r}", line(method, b"/hello", end))
            for method in (b"", b"G(T", b"GE\x00T", b"G\xc9T", b"G:T", b"G/T", b'"GET"', b"{GET}", b"GE\tT", b"G@T")
        ),
    ]


def _chunks() -> list[Attack]:
    def body(content: bytes) -> bytes:
        return post(TE, body=content)

    rest = b"\r\n0\r\n\r\n"
    return [
        _taken("a chunk with extensions", body(b'd;a;b=c;d="e f"\r\n' + NOTE + rest)),
        _taken("a chunk with spaces before its extension", body(b"d \t;a\r\n" + NOTE + rest)),
        _taken("a size with zeros before it", body(b"000000d\r\n" + NOTE + b"\r\n0000\r\n\r\n")),
        _taken("a size in capitals", body(b"D\r\n" + NOTE + rest)),
        _taken("trailers", body(b"d\r\n" + NOTE + b"\r\n0\r\nA: b\r\nContent-Length: 5\r\n\r\n")),
        _taken("chunks of one byte", body(chunked(NOTE * 1 + b" " * 3_000, 1))),
        _broken("a size with a sign", body(b"+d\r\n" + NOTE + rest)),
        _broken("a size with 0x", body(b"0xd\r\n" + NOTE + rest)),
        _broken("a size with a space", body(b"d \r\n" + NOTE + rest)),
        _broken("a size after a space", body(b" d\r\n" + NOTE + rest)),
        _broken("a size of none", body(b"\r\n" + NOTE + rest)),
        _broken("a size beyond everything", body(b"1000000000000000d\r\n" + NOTE + rest)),
        _broken("an extension with a bare LF", body(b"d;a\nb\r\n" + NOTE + rest)),
        _broken("an extension with a bare CR", body(b"d;a\rb\r\n" + NOTE + rest)),
        _broken("a size that a bare LF ends", body(b"d\n" + NOTE + rest)),
        _broken("a chunk that a bare LF ends", body(b"d\r\n" + NOTE + b"\n0\r\n\r\n")),
        _broken("a chunk that is longer than it says", body(b"c\r\n" + NOTE + rest)),
        _broken("a chunk that is shorter than it says", body(b"e\r\n" + NOTE + rest)),
        _broken("a last chunk that a bare LF ends", body(b"d\r\n" + NOTE + b"\r\n0\n\r\n")),
        _broken("a trailer that is none", body(b"d\r\n" + NOTE + b"\r\n0\r\nA\r\n\r\n")),
        _broken("a folded trailer", body(b"d\r\n" + NOTE + b"\r\n0\r\nA: b\r\n c\r\n\r\n")),
        _broken("trailers that a bare LF ends", body(b"d\r\n" + NOTE + b"\r\n0\r\nA: b\n\r\n")),
        _broken("long trailers", body(b"d\r\n" + NOTE + b"\r\n0\r\nA: " + b"b" * 20_000 + b"\r\n\r\n")),
        _broken("a long extension", body(b"d;" + b"a" * 10_000 + b"\r\n" + NOTE + rest)),
        _broken("extensions without end", body((b"1;" + b"a" * 3_000 + b"\r\n \r\n") * 50 + b"d\r\n" + NOTE + rest)),
    ]


def _without_a_look() -> list[Attack]:
    """Answers that are given before the body was read, or without it."""
    private = b"/private"
    large = b" " * 200_000
    return [
        _taken("a body that is refused unread", post(sized(SMUGGLED), body=SMUGGLED, path=private), 401),
        Attack(
            "chunks that are refused unread",
            post(TE, body=chunked(SMUGGLED, 7), path=private) + HELLO,
            (401,),
            ("/private",),
            ends=True,
        ),
        Attack(
            "much that is refused unread",
            post(sized(large), body=large, path=private) + HELLO,
            (401,),
            ("/private",),
            ends=True,
        ),
        Attack(
            "many chunks that are refused unread",
            post(TE, body=chunked(large, 999), path=private) + HELLO,
            (401,),
            ("/private",),
            ends=True,
        ),
        Attack(
            "what is none, refused unread",
            post(TE, body=b"zz\r\n" + HELLO, path=private),
            (401,),
            ("/private",),
            ends=True,
            doubtful=True,
        ),
        Attack(
            "more than is taken",
            post(b"Content-Length: 2000000", body=b" " * 2_000_000) + HELLO,
            (413,),
            ("/notes",),
            ends=True,
        ),
        Attack(
            "more chunks than are taken",
            post(TE, body=chunked(b" " * 2_000_000, 50_000)) + HELLO,
            (413,),
            ("/notes",),
            ends=True,
        ),
        Attack(
            "what is asked for first",
            post(b"Expect: 100-continue", sized(NOTE), body=NOTE) + HELLO,
            (100, 201, 200),
            _BOTH,
        ),
        Attack(
            "what is refused before it is asked for",
            post(b"Expect: 100-continue", sized(NOTE), body=NOTE, path=private) + HELLO,
            (401,),
            ("/private",),
            ends=True,
        ),
        Attack("another expectation", post(b"Expect: 200-ok", sized(NOTE), body=NOTE) + HELLO, (201, 200), _BOTH),
        *(
            _taken(
                f"a body for {method.decode()}",
                method + b" /hello HTTP/1.1\r\nHost: x\r\n" + sized(SMUGGLED) + b"\r\n\r\n" + SMUGGLED,
                status,
            )
            for method, status in (
                (b"GET", 200),
                (b"HEAD", 200),
                (b"DELETE", 405),
                (b"OPTIONS", 204),
                (b"BREW", 405),
                (b"TRACE", 405),
            )
        ),
        Attack(
            "chunks for GET",
            b"GET /hello HTTP/1.1\r\nHost: x\r\n" + TE + b"\r\n\r\n" + chunked(SMUGGLED, 9) + HELLO,
            (200,),
            ("/hello",),
            ends=True,
        ),
        Attack(
            "the last of a connection",
            b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: a, Close\r\n\r\n" + HELLO,
            (200,),
            ("/hello",),
            ends=True,
        ),
        Attack("HTTP/1.0", b"GET /hello HTTP/1.0\r\n\r\n" + HELLO, (200,), ("/hello",), ends=True),
        Attack(
            "HTTP/1.0 that would go on",
            b"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + HELLO,
            (200,),
            ("/hello",),
            ends=True,
        ),
        Attack("many, one behind another", HELLO * 20, (200,) * 20, ("/hello",) * 20),
        Attack(
            "many with bodies",
            post(sized(NOTE), body=NOTE) * 5 + post(TE, body=_CHUNKED) * 5,
            (201,) * 10,
            ("/notes",) * 10,
        ),
        Attack(
            "good ones before what is none",
            HELLO * 2 + b"nonsense\r\n\r\n" + HELLO,
            (200, 200, 400),
            ("/hello",) * 2,
            ends=True,
            doubtful=True,
        ),
    ]


ATTACKS = (
    *_upgrades(),
    *_lengths(),
    *_codings(),
    *_lines(),
    *_request_lines(),
    *_chunks(),
    *_without_a_look(),
)
