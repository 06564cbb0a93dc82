"""Whose certificates PostgreSQL is believed by, and which are shown to it, as its URL says."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

_FILES: Final = ("sslrootcert", "sslcrl", "sslcert", "sslkey")

_OF_THE_MACHINE: Final = "system"
"""What libpq has for `sslrootcert`: the authorities of the machine, or of `SSL_CERT_FILE`. The driver takes it for the
name of a file."""


def trust(url: str) -> Mapping[str, ssl.SSLContext]:
    """What a connection is made with beside the URL. With authorities of the machine the server is held to the name of
    the host, whatever `sslmode` says, as libpq holds it. Raises ValueError: the URL, or a file that it names, cannot be
    read."""
    asked = dict(parse_qsl(urlsplit(url).query))
    is_of_the_machine = asked.get("sslrootcert") == _OF_THE_MACHINE
    for each in _FILES[is_of_the_machine:]:
        if each in asked and not Path(asked[each]).is_file():
            raise ValueError(f"{each}: there is no such file")
    if not is_of_the_machine:
        return {}
    context = ssl.create_default_context()
    if "sslcert" in asked:
        try:
            context.load_cert_chain(asked["sslcert"], asked.get("sslkey"), asked.get("sslpassword", ""))
        except OSError as error:  # of which those of `ssl` are some
            raise ValueError("sslcert: it cannot be read") from error
    return {"ssl": context}
