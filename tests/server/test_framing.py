"""Requests out of bytes: the same in whatever pieces they come, and what another reader (h11) makes of them."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.door.attacks import ATTACKS, SMUGGLED
from tests.slices import examples

from ninefold.runtime.http.chunks import Refused
from ninefold.runtime.http.framing import Head, Requests
from ninefold.runtime.http.known import DIFFERENT, KNOWN_BYTES, KNOWN_HEADS, Known, Said
from ninefold.runtime.messages.message import joined
from ninefold.runtime.messages.notes import Looked

_WORDS = (
    *(b"GET", b"POST", b"CONNECT", b"OPTIONS", b" ", b"\t", b"/", b"*", b"x:80", b"http://x", b"?"),
    *(b"HTTP/1.1", b"HTTP/1.0", b"Host: x\r\n", b"Content-Length: ", b"Transfer-Encoding: ", b"chunked", b"gzip"),
    *(b"Upgrade: x\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"Connection: upgrade\r\n"),
    *(b":", b",", b";", b"0", b"1", b"5", b"a", b"\x00", b"\r", b"\n", b"\xff"),
    *(b"\r\n", b"\r\n\r\n", b"0\r\n\r\n", b"1\r\na\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", SMUGGLED),
)
STREAMS = st.one_of(
    st.lists(st.sampled_from(_WORDS), max_size=40).map(b"".join),
    st.lists(st.sampled_from([each.sent for each in ATTACKS if len(each.sent) < 5_000]), max_size=3).map(b"".join),
    st.tuples(
        st.sampled_from([each.sent for each in ATTACKS if len(each.sent) < 5_000]),
        st.integers(0, 5_000),
        st.sampled_from(_WORDS),
    ).map(lambda found: found[0][: found[1]] + found[2] + found[0][found[1] :]),
)


_BLOCKS = (
    *(b"Host: x", b"Host: x\r\nContent-Length: 5", b"Host: x\r\nContent-Length: 0"),
    *(b"Host: x\r\nConnection: close", b"Host: x\r\nExpect: 100-continue\r\nContent-Length: 5"),
    b"Host: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
_WHOLE = tuple(
    b"%b\r\n%b\r\n\r\n%b" % (line, block, b"12345" if b"Length: 5" in block else b"")
    for line in (
        b"GET / HTTP/1.1",
        b"GET /a?b HTTP/1.1",
        b"POST /a HTTP/1.1",
        b"CONNECT /a HTTP/1.1",
        b"GET /a HTTP/1.0",
    )
    for block in _BLOCKS
)
"""Requests of the same fields with different methods, each whole."""


def read(pieces: list[bytes], known: Known | None = None) -> list[object]:
    """Heads, and bodies as far as they came; the status of what is refused ends it."""
    requests = Requests(known)
    found: list[object] = []
    body = b""
    for piece in pieces:
        if (whole := requests.whole(piece)) is not None:
            found += [_alone(whole[0]), *([whole[1]] if whole[1] else [])]
            continue
        requests.feed(piece)
        try:
            while True:
                if not requests.ended:
                    content = requests.content(7)
                    body += content
                    if requests.ended:
                        found.append(body)
                        body = b""
                    elif not content:
                        break
                elif head := requests.head():
                    found.append(_alone(head))
                else:
                    break
        except Refused as refused:
            return [*found, body, refused.status]
    return [*found, body]


@given(STREAMS, st.lists(st.integers(0, 5_000), max_size=8))
def test_pieces_change_nothing(stream: bytes, places: list[int]) -> None:
    whole = read([stream])
    assert read([bytes((byte,)) for byte in stream] or [b""]) == whole
    cuts = [0, *sorted(min(place, len(stream)) for place in places), len(stream)]
    assert read([stream[begin:end] for begin, end in pairwise(cuts)]) == whole


@given(st.lists(STREAMS, max_size=3))
def test_what_is_known_of_heads_changes_nothing(streams: list[bytes]) -> None:
    known = Known()
    for stream in (*streams, *streams):
        assert read([stream], known) == read([stream])


@given(st.lists(st.sampled_from(_WHOLE), min_size=1, max_size=6))
def test_what_comes_whole_is_what_comes_in_pieces(pieces: list[bytes]) -> None:
    known = Known()
    read(list(_WHOLE), known)
    assert read(pieces, known) == read([b"".join(pieces)])


@pytest.mark.parametrize("one", _WHOLE)
def test_a_head_whose_beginning_is_known_is_not_whole(one: bytes) -> None:
    known = Known()
    read(list(_WHOLE), known)
    once = read([one])
    for place in range(len(one)):
        assert read([one[:place], one[place:]], known) == once


def test_what_is_known_of_a_head_is_read_whole() -> None:
    known = Known()
    taken = [each for each in _WHOLE if not isinstance(read([each], known)[-1], int)]
    assert len(taken) > len(_WHOLE) / 2
    for each in taken:
        is_whole = Requests(known).whole(each) is not None
        assert is_whole is not any(said in each for said in (b"100-continue", b"CONNECT", b"HTTP/1.0", b"websocket"))


def test_of_heads_not_more_is_known_than_there_is_room_for() -> None:
    known = Known()
    for number in range(2 * KNOWN_HEADS):
        read([b"GET / HTTP/1.1\r\nHost: %d\r\n\r\n" % number], known)
    read([b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * KNOWN_BYTES + b"\r\n\r\n"], known)
    assert 0 < len(known) <= KNOWN_HEADS
    assert all(len(block) <= KNOWN_BYTES for block in known)


def test_one_client_more_than_there_is_room_for_leaves_the_others_known() -> None:
    known = Known()
    heads = [b"GET / HTTP/1.1\r\nHost: %d\r\n\r\n" % number for number in range(KNOWN_HEADS + 1)]
    said = [_said(head, known) for head in heads]
    again = [_said(head, known) for head in heads]
    assert sum(one is other for one, other in zip(said, again, strict=True)) > KNOWN_HEADS * 3 / 4


def _with_values_of_their_own() -> Known:
    """Where heads are known whose field `X` has another value each time, and so has `Content-Length`, and none is
    looked up."""
    known = Known()
    for number in range(2 * DIFFERENT):
        for line in (b"X: %d" % number, b"Content-Length: %d" % number, b"A: b\r\nX: %d\r\nC: d" % number):
            _said(b"GET / HTTP/1.1\r\nHost: x\r\n%b\r\n\r\n" % line, known)
    return known


_LINES = (
    *(b"X: 1", b"X:2", b"X:", b"X: \t3 \t", b"x: 4", b"X: \xff", b"X : 5", b" X: 6", b"X: \x00", b"X: 7\rA: b"),
    *(b"Host: x", b"A: b", b"C: d", b"C: ", b"Content-Length: 5", b"Content-Length: 05", b"Content-Length: 6"),
    *(b"Content-Length: 0", b"Content-Length: 5a", b"Content-Length: " + 19 * b"0", b"Content-Length: "),
    *(b"Upgrade: websocket\r\nConnection: upgrade", b"Sec-WebSocket-Version: 13"),
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    *(b"X: 8\nHost: y", b"Upgrade: x", b"Connection: close", b"Transfer-Encoding: chunked", b"Host:"),
)


@given(st.lists(st.lists(st.sampled_from(_LINES), max_size=5), max_size=4))
def test_what_is_known_of_heads_with_values_of_their_own_changes_nothing(heads: list[list[bytes]]) -> None:
    known = _with_values_of_their_own()
    for lines in (*heads, *heads):
        stream = b"GET / HTTP/1.1\r\n" + b"".join(b"%b\r\n" % each for each in (b"Host: x", *lines)) + b"\r\n12345"
        assert read([stream], known) == read([stream])


def test_a_length_of_its_own_says_what_is_a_handshake() -> None:
    known, upgrade = _with_values_of_their_own(), _BLOCKS[-1].split(b"\r\n", 1)[1]
    for length in (5, 0, 6, 0):
        stream = b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%b\r\n\r\n" % (length, upgrade)
        assert (_said(stream, known).handshake is not None) is (length == 0)


def test_heads_that_differ_in_values_of_their_own_alone_share_what_is_noted() -> None:
    known = _with_values_of_their_own()
    one, other, third = (
        _said(b"GET / HTTP/1.1\r\nHost: x\r\nX: %d\r\n\r\n" % each, known) for each in (1001, 1002, 1002)
    )
    assert one.headers == {"host": "x", "x": "1001"} and other.headers == {"host": "x", "x": "1002"}
    assert other.fields == [(b"host", b"x"), (b"x", b"1002")] == third.fields
    assert one.notes is not None and one.notes is other.notes
    assert known[b"Host: x\r\nX: 1002"] is third, "it came twice, so it may come again"


def test_what_is_noted_by_a_value_of_its_own_holds_for_that_alone() -> None:
    known = _with_values_of_their_own()
    one, other, again = (
        _said(b"GET / HTTP/1.1\r\nHost: x\r\nX: %d\r\n\r\n" % each, known) for each in (1001, 1002, 1001)
    )
    assert one.notes is not None
    by_all, by_its_own = Looked(one.headers), Looked(one.headers)
    assert by_all["host"] and by_its_own["x"]
    one.notes.keep("all", b"", by_all, "noted")
    one.notes.keep("its own", b"", by_its_own, "noted")
    for said, found in ((one, "noted"), (other, None), (again, "noted"), (other, None)):
        assert said.notes is not None
        assert said.notes.find("all", b"", said.headers) == "noted"
        assert said.notes.find("its own", b"", said.headers) == found
    assert one.notes.holds("all", b"") and not one.notes.holds("its own", b"")
    # From then on its values are as those of other fields.
    one, other = (_said(b"GET / HTTP/1.1\r\nHost: x\r\nX: %d\r\n\r\n" % each, known) for each in (1001, 1002))
    assert one.notes is not other.notes


def _alone(head: Head) -> Head:
    """A head without what is noted of others."""
    return replace(head, said=replace(head.said, notes=None))


def _said(stream: bytes, known: Known) -> Said:
    requests = Requests(known)
    requests.feed(stream)
    head = requests.head()
    assert head is not None
    return head.said


@settings(max_examples=examples(500))
@given(STREAMS)
def test_what_is_taken_another_reader_takes_as_the_same(stream: bytes) -> None:
    """What one of the two refuses, the other may take: h11 lets a line end with LF, and takes no space before the
    extension of a chunk. What both take is one request."""
    stream = stream.lstrip(b"\r\n")  # which h11 does not skip
    requests, other = Requests(), h11.Connection(h11.SERVER)
    requests.feed(stream)
    other.receive_data(stream)
    try:
        head, event = requests.head(), other.next_event()
        assert isinstance(event, h11.Request) == (head is not None)
        if head is None or not isinstance(event, h11.Request):
            return
        ours = theirs = b""
        while not requests.ended and (content := requests.content(1_000)):
            ours += content
        while isinstance(further := other.next_event(), h11.Data):
            theirs += bytes(further.data)
    except (Refused, h11.RemoteProtocolError):
        return
    assert event.method.decode() == head.method
    if event.target.startswith(b"/"):
        assert event.target == head.path + b"?" * (b"?" in event.target) + head.query
    assert ours == theirs
    assert isinstance(further, h11.EndOfMessage) == requests.ended
    if requests.ended:
        assert len(other.trailing_data[0]) == requests.waiting


def test_long_lists_of_one_field_are_joined_at_once() -> None:
    assert joined(
        [(b"A", b"1"), (b"b", b"x"), (b"a", b"2"), (b"cookie", b"c=1"), (b"cookie", b"d=2"), (b"a", b"3")]
    ) == {
        "a": "1, 2, 3",
        "b": "x",
        "cookie": "c=1; d=2",
    }
