"""Which file a URL means, and what is said of those that mean none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.runtime.store.file import NotBuilt, database_path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("orders.db", "orders.db"),
        ("/var/lib/orders.db", "/var/lib/orders.db"),
        ("./a b.db", "a b.db"),
        ("sqlite:///orders.db", "orders.db"),
        ("sqlite:///data/orders.db", "data/orders.db"),
        ("sqlite:////var/lib/orders.db", "/var/lib/orders.db"),
        ("SQLite:///orders.db", "orders.db"),
        ("sqlite:///a%20b.db", "a b.db"),
    ],
)
def test_a_file(url: str, path: str) -> None:
    assert database_path(url) == Path(path)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://localhost/orders", "not built yet"),
        ("postgresql+psycopg://localhost/orders", "not built yet"),
        ("sqlite://orders.db", "names no file"),
        ("sqlite://host/orders.db", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///data/", "names no file"),
        ("", "names no file"),
        ("a\0b", "names no file"),
        ("sqlite:///orders.db?mode=ro", "parameters"),
        (":memory:", "not a file"),
    ],
)
def test_no_file(url: str, said: str) -> None:
    with pytest.raises(NotBuilt, match=said):
        database_path(url)
