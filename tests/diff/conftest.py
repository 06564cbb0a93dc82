"""Commands compile what they are told of, and tests tell them the same again and again: each document is compiled once,
by its name, which each test gives it in a directory of its own."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from tests.contracts import compiled_once

from ninefold.pipeline import compile_tree

tree_compiled_once = lru_cache(16)(compile_tree)


@pytest.fixture(autouse=True)
def commands_compile_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ninefold.cli.document.compile_document", compiled_once)
    monkeypatch.setattr("ninefold.diff.alone.compile_tree", tree_compiled_once)
    monkeypatch.chdir(tmp_path)
