"""Which file a database URL means."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


class NotBuilt(Exception):
    """A URL that names no database that this build can use; the message says which it can."""


def database_path(url: str) -> Path:
    """The file that `url` names: `sqlite:///PATH` (relative), `sqlite:////PATH` (absolute) or a bare path.

    In a URL, `%20` and the like are decoded (RFC 3986 2.1). Raises NotBuilt.
    """
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _path(url, url)
    if scheme[1].lower() != "sqlite":
        raise NotBuilt(f"{scheme[1]}:// is not built yet: databases are SQLite files, sqlite:///PATH")
    authority, slash, path = url[scheme.end() :].partition("/")
    if authority or not slash:
        raise NotBuilt(f"{url} names no file: write sqlite:///PATH, with four slashes for an absolute path")
    if "?" in path or "#" in path:
        raise NotBuilt(f"{url} has parameters, and a SQLite file takes none")
    return _path(unquote(path), url)


def _path(path: str, url: str) -> Path:
    if path in ("", ".") or path.endswith("/") or "\0" in path:
        raise NotBuilt(f"{url!r} names no file: write a path, or sqlite:///PATH")
    if path.startswith(":"):
        raise NotBuilt(f"{path} is not a file, and a service without a file would forget what it acknowledged")
    return Path(path)
