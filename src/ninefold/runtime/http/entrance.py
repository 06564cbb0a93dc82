"""Who connects is let in soon, however many are there.

libuv accepts one connection a turn of a listening socket. Under load a turn answers all that came in the one before: so
whoever is new would wait for as many turns as there are others who are new, each as long as all who are there make it.
So each socket is listened to several times; and where many are there, a part of as many is let in beside.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection, Sequence
from ssl import SSLContext

PART = 4
"""Of so many who are there, one more is let in in a turn."""


class Entrance:
    """`connections`: those that there are. `least`: how many are let in in a turn anyway. `made`: what makes the
    protocol of a connection. To be used on the event loop's thread."""

    def __init__(
        self,
        connections: Collection[object],
        least: int,
        tls: SSLContext | None,
        made: Callable[[], asyncio.Protocol],
    ) -> None:
        self._connections = connections
        self._least = least
        self._tls = tls
        self._made = made
        self._listening: Sequence[socket.socket] = ()
        self._asked = False
        self._coming = set[asyncio.Task[object]]()

    def doors(self, listening: Sequence[socket.socket]) -> list[socket.socket]:
        """The same sockets, each as many times as libuv is to accept a connection of it in a turn."""
        self._listening = listening
        return [*listening, *(each.dup() for each in listening for _ in range(self._least - 1))]

    def somebody(self) -> None:
        """Somebody is let in: others may wait."""
        if not self._asked and len(self._connections) > PART * self._least:
            self._asked = True
            asyncio.get_running_loop().call_soon(self._others)

    def _others(self) -> None:
        loop = asyncio.get_running_loop()
        for each in self._listening:
            for _ in range(len(self._connections) // PART - self._least):
                try:
                    connection, _ = each.accept()
                except OSError:  # nobody waits; or there can be no more of them, which is for libuv to bear
                    break
                connection.setblocking(False)
                coming = loop.create_task(loop.connect_accepted_socket(self._made, connection, ssl=self._tls))
                self._coming.add(coming)
                coming.add_done_callback(self._came)
        self._asked = False

    def _came(self, coming: asyncio.Task[object]) -> None:
        """It is there, or has left before: a handshake of TLS may be none."""
        self._coming.discard(coming)
        if not coming.cancelled():
            coming.exception()
