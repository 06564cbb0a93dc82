"""Whoever reads of an older version reads the names that it has: none that only the program gives what it works out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import ALL, compiled, title
from tests.slices import some

from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.render import to_text

OLDER = some([path for path in ALL if b"changes:" in path.read_bytes()], 4)


def told(loaded: Loaded, version: str) -> list[str]:
    """What is explained of every endpoint of a version."""
    own = loaded.of(version)
    if own is None or own.checked is None:
        return []
    return [to_text(explain_endpoint(own, each)) for each in value_of(own.contract.endpoints.endpoints) or ()]


@pytest.mark.long
@pytest.mark.parametrize("path", OLDER, ids=title)
def test_no_name_is_told_that_no_document_has(path: Path) -> None:
    loaded = compiled(path)
    said = [
        text for each in loaded.diagnostics for text in (each.message, *each.help, *(of.text for of in each.labels))
    ]
    for version in [each.version for each in loaded.older]:
        found = [text for text in (*said, *told(loaded, version)) if f" of {version}`" in text]
        assert not found, found[0]
