"""Modules of a program are found with half the work, and are what Python makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOLD = """
import sys, importlib
from ninefold.cli.modules import find_quickly
if "quickly" in sys.argv:
    find_quickly()
for name in ("ninefold.plan.service", "ninefold.contract", "markdown_it.token", "jsonschema_rs.jsonschema_rs"):
    module = importlib.import_module(name)
    spec = module.__spec__
    print(name, module.__file__, getattr(module, "__cached__", None), module.__package__, spec.name, spec.origin)
    print(spec.cached, spec.has_location, spec.submodule_search_locations, spec.parent, sorted(vars(module)))
"""


def said(program: str, *arguments: str, folder: Path | None = None) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return ended.stdout


def test_a_module_is_told_of_as_it_always_is() -> None:
    assert said(TOLD, "quickly") == said(TOLD)


OF_A_PACKAGE = """
from ninefold.cli.modules import find_quickly
find_quickly()
from package.module import what
print(what)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "module.py").write_text("what = 'a module'\n")
    return tmp_path


def test_a_source_that_was_changed_is_compiled_anew(folder: Path) -> None:
    assert said(OF_A_PACKAGE, folder=folder) == said(OF_A_PACKAGE, folder=folder) == "a module\n"
    (folder / "package" / "module.py").write_text("what = 'another one'\n")
    assert said(OF_A_PACKAGE, folder=folder) == "another one\n"


def test_bytecode_that_is_cut_off_is_not_read(folder: Path) -> None:
    said(OF_A_PACKAGE, folder=folder)
    for kept in (folder / "package").rglob("module.*.pyc"):
        kept.write_bytes(kept.read_bytes()[:12])
    assert said(OF_A_PACKAGE, folder=folder) == "a module\n"


def test_a_package_comes_before_a_module_of_its_name(folder: Path) -> None:
    (folder / "package" / "module").mkdir()
    (folder / "package" / "module" / "__init__.py").write_text("what = 'a package'\n")
    assert said(OF_A_PACKAGE, folder=folder) == "a package\n"


LATER = """
import importlib
with open("package/later.py", "w") as file:
    file.write("what = 2")
importlib.invalidate_caches()
from package.later import what
print(what)
"""


def test_a_module_that_came_later_is_found(folder: Path) -> None:
    assert said(OF_A_PACKAGE + LATER, folder=folder) == "a module\n2\n"
