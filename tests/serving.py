"""An application at a port of its own, served in a thread of this process while a test asks it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext

from ninefold.runtime.http.run import Asgi, Stop, serve


@contextmanager
def in_a_thread(
    application: Asgi, listening: socket.socket | None = None, tls: SSLContext | None = None
) -> Iterator[tuple[str, int]]:
    """Its address, until the block ends; then it has ended. `listening`: on a socket that is bound already."""
    bound = listening or socket.create_server(("127.0.0.1", 0), backlog=1_000)
    address: tuple[str, int] = bound.getsockname()
    stop = Stop()
    thread = threading.Thread(target=lambda: asyncio.run(serve(application, [bound], stop=stop, tls=tls)))
    thread.start()
    try:
        yield address
    finally:
        stop.request()
        thread.join()
