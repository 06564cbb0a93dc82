"""Why a request to an address came to no answer: in words, whatever the address, and never by an exception's name."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable
from ipaddress import ip_network

import pytest

from ninefold.runtime import unanswered
from ninefold.runtime.background.sender import REFUSED, Failed, Sender
from ninefold.runtime.http.work import _fetch
from ninefold.runtime.operations.flow import Unreachable

UNFIT = {
    "": unanswered.OF_HTTP, "hello": unanswered.OF_HTTP, "ftp://x/": unanswered.OF_HTTP, "//x/": unanswered.OF_HTTP,
    "http:///x": unanswered.NO_HOST, "http:/x": unanswered.NO_HOST, "http://:80/": unanswered.NO_HOST,
    "http://u:p@example.org/": unanswered.OF_NOBODY, "https://u@example.org": unanswered.OF_NOBODY,
    "http://@example.org": unanswered.OF_NOBODY,
    "http://example.org:99999/": unanswered.PORT, "http://example.org:0/": unanswered.PORT,
    "http://example.org:abc/": unanswered.PORT, "http://example.org:-1/": unanswered.PORT,
    "http://127.0.0.1:\u0661/": unanswered.PORT,
    "http://2130706433/": unanswered.NUMBER, "http://127.1/": unanswered.NUMBER,
    "http://0x7f000001/": unanswered.NUMBER,
    "http://999.1.1.1/": unanswered.NUMBER, "http://127.0.0.1./": unanswered.NUMBER,
    "http://exa mple.org/": unanswered.SPACE, "http://a\nb/": unanswered.SPACE, "http://a\x7f/": unanswered.SPACE,
    "http://[::1": unanswered.NO_URL, "http://::1]/": unanswered.NO_URL, "http://\u3002/": unanswered.NO_URL,
    "http://a..b/": unanswered.NO_NAME, "http://.../": unanswered.NO_NAME,
    f"http://{'a' * 70}.example/": unanswered.NO_NAME,
    "http://no.such.name.invalid/": unanswered.NOT_RESOLVED, "http://a%20b/": unanswered.NOT_RESOLVED,
    "http://10.0.0.1/": REFUSED, "http://[::1]/": REFUSED, "http://[::ffff:10.0.0.1]/": REFUSED,
    "http://169.254.169.254/latest": REFUSED,
    "http://127.0.0.1:1/": unanswered.NO_CONNECTION, "HTTP://127.0.0.1:1": unanswered.NO_CONNECTION,
    "http://127.0.0.1:1/a b?c#d": unanswered.NO_CONNECTION, "http://127.0.0.1:1/%zz": unanswered.NO_CONNECTION,
}  # fmt: skip

ANSWERS: dict[bytes, str] = {
    b"": unanswered.BROKEN,
    b"HTTP/1.1": unanswered.BROKEN,
    b"220 mail.example ESMTP\r\n\r\n": unanswered.NO_ANSWER,
    b"HTTP/1.1 abc\r\n\r\n": unanswered.NO_ANSWER,
    b"HTTP/1.1 200 OK\r\na b: c\r\n\r\n": unanswered.NO_ANSWER,
}


def sent(url: str) -> str:
    async def send() -> str:
        async with Sender([ip_network("127.0.0.0/8")]) as sender:
            outcome = await sender.send(url, {}, b"{}")
            assert isinstance(outcome, Failed)
            return outcome.why

    return asyncio.run(send())


def fetched(url: str) -> str:
    found = asyncio.run(_fetch(url))
    assert isinstance(found, Unreachable)
    return found.why


@pytest.mark.parametrize(("url", "why"), UNFIT.items(), ids=range(len(UNFIT)))
def test_each_address_has_its_words(url: str, why: str) -> None:
    assert sent(url) == why


@pytest.mark.parametrize("ask", [sent, fetched])
@pytest.mark.parametrize(("answer", "why"), ANSWERS.items(), ids=range(len(ANSWERS)))
def test_what_is_no_answer_of_http_has_words(ask: Callable[[str], str], answer: bytes, why: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answering = threading.Thread(target=_answer, args=(listening, answer))
        answering.start()
        try:
            assert ask(f"http://127.0.0.1:{listening.getsockname()[1]}/") == why
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            answering.join()


def _answer(listening: socket.socket, answer: bytes) -> None:
    """Answer each who comes, until nobody is listened for: who reads may ask a second time."""
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(answer)


NAMED = re.compile(r"\w(Error|Exception|URL)\b")


@pytest.mark.parametrize("url", [url for url, why in UNFIT.items() if why != REFUSED], ids=ascii)
def test_what_an_issuer_is_fetched_from_is_told_in_words(url: str) -> None:
    assert not NAMED.search(fetched(url))
