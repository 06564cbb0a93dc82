"""SARIF as the commands write it: with the document's URI, and who says it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath
from urllib.parse import quote

import msgspec

import ninefold
from ninefold.cli.terminal import say
from ninefold.diagnostics.sarif import Result, Tool, to_sarif
from ninefold.diagnostics.source import Source


def say_sarif(results: Iterable[Result], source: Source) -> None:
    """A SARIF log on standard output."""
    log = to_sarif(results, source, Tool("ninefold", ninefold.__version__), uri(source.name))
    say(msgspec.json.format(msgspec.json.encode(log), indent=2).decode())


def uri(name: str) -> str:
    """A file's name as a URI reference (RFC 3986, RFC 8089): relative as it was given, or `file:///…`."""
    return Path(name).as_uri() if PurePath(name).is_absolute() else quote(PurePath(name).as_posix())
