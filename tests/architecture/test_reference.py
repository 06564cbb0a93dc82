"""The reference interpreter shares nothing with what it is compared with: it reads checked contracts, and there ends
what it has in common with the planner, the server and the database."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ninefold.values import Type

REFERENCE = Path(__file__).parent.parent / "reference"
MODULES = sorted(REFERENCE.glob("*.py"))

DATA = ("ninefold.checked", "ninefold.expressions.tree", "ninefold.language.verbs", "tests.reference")
"""What may be imported of ours: contracts, verbs and expressions as data, and the interpreter itself."""

TYPES = {each.__name__ for each in Type.__args__} | {"Type"}
"""Of `ninefold.values` the types, and none of the functions that read and write values."""


def imported(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((module, alias.name) for alias in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_it_shares_no_code_with_what_it_judges(path: Path) -> None:
    for module, name in imported(path):
        if module == "ninefold.values":
            assert name in TYPES, f"{path.name} imports {module}.{name}"
        elif module.startswith(("ninefold", "tests")):
            assert module.startswith(DATA), f"{path.name} imports {module}"


def test_there_is_an_interpreter() -> None:
    assert {path.stem for path in MODULES} >= {"interpreter", "expressions", "bodies", "lists", "writes"}
