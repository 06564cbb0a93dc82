"""What is in force still is nothing that `fix` rewrites; a test that is about the rewriting itself has nothing in
force."""

from __future__ import annotations

import pytest

from ninefold.language import former


@pytest.fixture
def nothing_of_it_is_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(former, "IN_FORCE", {})
    monkeypatch.setattr(former, "BY_NAME", {})
    monkeypatch.setattr(former, "stays", lambda *_: False)
