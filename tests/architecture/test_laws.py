"""The laws of ARCHITECTURE.md that `.importlinter` cannot say: read from the source, not from a running program."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from tests.architecture import ratchets

import ninefold

PACKAGE = Path(ninefold.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

COMPILER = (
    "checked",
    "checks",
    "contract",
    "diagnostics",
    "expressions",
    "language",
    "pipeline.py",
    "plan",
    "compile",
    "sql",
    "syntax",
    "tools",
    "trace",
    "upgrade",
    "values",
)

NAMES_THAT_NAME_NOTHING = {
    "base", "common", "core", "handler", "helper", "helpers", "manager", "misc", "processor", "util", "utils",
}  # fmt: skip

OPENING_FUNCTIONS = {"open", "input", "print", "exec", "eval", "breakpoint", "__import__"}
OPENING_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "system", "popen"}
OPENING_MODULES = {"os", "io", "pathlib", "shutil", "tempfile", "glob", "mmap", "socket", "subprocess", "urllib"}


def named(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def modules_of(entries: tuple[str, ...]) -> list[Path]:
    return [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in entries]


def tree_of(path: Path) -> ast.Module:
    return ratchets.trees()[path.relative_to(ratchets.SOURCE).as_posix()]


def test_no_module_is_in_an_import_cycle() -> None:
    graph = grimp.build_graph("ninefold", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail("a cycle: " + " imported by ".join(error.args[1]))


def test_a_module_has_a_name_that_names_something() -> None:
    words = {named(path): set(re.split(r"\W|_", named(path))) for path in MODULES}
    assert [name for name, found in words.items() if found & NAMES_THAT_NAME_NOTHING] == []


def test_a_module_says_what_it_is_for() -> None:
    assert [named(path) for path in MODULES if not ast.get_docstring(tree_of(path))] == []


def openings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines on which a module reaches for something outside its arguments."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                roots = {alias.name.split(".")[0] for alias in names}
            case ast.ImportFrom(module="pathlib", names=[ast.alias(name="PurePath")]):
                roots = set()  # the text of a path, which opens nothing
            case ast.ImportFrom(module=str(module), level=0):
                roots = {module.split(".")[0]}
            case _:
                roots = set()
        yield from ((node.lineno, root) for root in roots & OPENING_MODULES)  # type: ignore[attr-defined]
        match node:
            case ast.Call(func=ast.Name(id=name), lineno=line) if name in OPENING_FUNCTIONS:
                yield line, name
            case ast.Call(func=ast.Attribute(attr=name), lineno=line) if name in OPENING_METHODS:
                yield line, name


def test_the_compiler_opens_nothing() -> None:
    """The bytes of a contract are handed to it; nothing else is read, written or asked of the machine. Only the
    pipeline reads the document itself, in `load`, and `pages` the pages that the program brings along; `frozen` has
    Python compile the methods that it writes."""
    allowed = {("diagnostics/frozen.py", "exec")}
    found = [
        f"{named(path)}:{line}: {name}"
        for path in modules_of(COMPILER)
        if named(path) not in ("pipeline.py", "diagnostics/pages.py")
        for line, name in openings(tree_of(path))
        if (named(path), name) not in allowed
    ]
    assert found == []


def test_only_the_adapter_has_coroutines() -> None:
    """A step says what it waits for, and one loop resumes it (law 10). That loop is in `http`, as is all that it waits
    for but the database; what the service does by itself and the second port run beside it."""
    adapters = ("runtime/http/", "runtime/store/", "runtime/background/", "runtime/operator/")
    found = [
        f"{named(path)}: {node.name}"
        for path in modules_of((*COMPILER, "runtime"))
        if not named(path).startswith(adapters)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.AsyncFunctionDef)
    ]
    assert found == []


def test_nothing_is_forgotten_as_a_whole_because_it_is_full() -> None:
    """`if len(kept) >= MOST: kept.clear()`, of whatever the runtime keeps (`ninefold.runtime.cache`)."""
    emptied = [
        f"{named(path)}:{node.lineno}"
        for path in modules_of(("runtime",))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.If) and "len(" in ast.unparse(node.test) and ".clear()" in ast.unparse(node.body[0])
    ]
    assert emptied == []


def test_all_that_is_kept_is_text() -> None:
    """No package, database or picture comes into the repository by the way."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PACKAGE.parents[1], capture_output=True, check=False).stdout
    if not listed:
        pytest.skip("this is no checkout")
    for name in filter(None, listed.decode().split("\0")):
        if (PACKAGE.parents[1] / name).is_file():
            (PACKAGE.parents[1] / name).read_text(encoding="utf-8")


def test_a_frozen_class_is_made_when_it_is_used() -> None:
    """The standard library's decorator compiles six methods of a class at each start (decision 0034)."""
    found = [
        f"{named(path)}:{node.lineno}"
        for path in MODULES
        if named(path) != "diagnostics/frozen.py"
        for node in ast.walk(tree_of(path))
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "dataclasses"
            and "dataclass" in {each.name for each in node.names}
        )
        or (isinstance(node, ast.Attribute) and node.attr == "dataclass" and ast.unparse(node.value) == "dataclasses")
    ]
    assert found == []
