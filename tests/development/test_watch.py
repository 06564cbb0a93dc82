"""Whether a file was saved, with a real file."""

from __future__ import annotations

import os
from pathlib import Path

from ninefold.development.reload import Watch


def test_a_save_counts_once_it_has_settled(tmp_path: Path) -> None:
    path = tmp_path / "contract.md"
    path.write_text("a")
    watch = Watch(path)
    assert [watch.saved(), watch.saved()] == [False, False]
    path.write_text("ab")
    assert [watch.saved(), watch.saved(), watch.saved()] == [False, True, False]


def test_an_editor_that_writes_a_new_file(tmp_path: Path) -> None:
    path, other = tmp_path / "contract.md", tmp_path / "other.md"
    path.write_text("a")
    watch = Watch(path)
    path.unlink()
    assert [watch.saved(), watch.saved()] == [False, False]
    other.write_text("a")
    os.replace(other, path)
    assert [watch.saved(), watch.saved(), watch.saved()] == [False, True, False]
