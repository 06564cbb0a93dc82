"""A port for a program that has to be told one."""

from __future__ import annotations

import random
import socket


def free_port() -> int:
    """One that is free, of those that no machine gives to who asks for any (Linux begins at 32,768): otherwise another
    test might be given it before the program has it."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:  # somebody has it
            continue
