"""What only the long run takes whole is taken by it: of a sample that always begins with the first item nobody sees the
rest, and `make test-long` takes what is marked (`-m long`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.slices import DEAR, dear_first

TESTS = Path(__file__).parents[1]
SLICES = TESTS / "slices.py"
MODULES = [path for path in sorted(TESTS.rglob("*.py")) if path != SLICES]
TAKES = {"LONG", "OF", "PARTS", "PIECES", "WHOLE", "by_name", "many", "piece", "seldom", "some"}
"""What of `tests/slices.py` says how much a run takes."""


def named(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def unmarked(module: ast.Module) -> Iterator[str]:
    """Tests of which the long run takes more, and that are not marked."""
    takes, is_marked = set[str](), False
    for each in module.body:
        match each:
            case ast.ImportFrom(module="tests.slices", names=names):
                takes |= {one.asname or one.name for one in names if one.name in TAKES}
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=marks):
                is_marked = "long" in _marks(marks)
            case (
                ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
            ) if named(value) & takes:
                takes |= named(target)
            case ast.FunctionDef(name=name) if named(each) & takes:
                if not name.startswith("test_"):
                    takes.add(name)
                elif not is_marked and not any("long" in _marks(one) for one in each.decorator_list):
                    yield name


def _marks(node: ast.expr) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def from_the_first(module: ast.Module) -> Iterator[str]:
    """`items[::20]`, of which the others are never taken. Every second is no sample."""
    for each in ast.walk(module):
        if isinstance(each, ast.Slice) and each.lower is None and each.step is not None:
            if ast.unparse(each.step) not in ("1", "2", "-1"):
                yield ast.unparse(each)


def test_what_a_run_takes_more_of_is_marked_and_goes_by_slices() -> None:
    """`tests.slices.some` takes others in each slice."""
    modules = ((path.name, ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES)
    assert [(name, said) for name, module in modules for said in (*unmarked(module), *from_the_first(module))] == []


def test_it_can_fail() -> None:
    module = ast.parse(
        "from tests.slices import some\nITEMS, _ = some([1], 2), 0\ndef kept(): return ITEMS\n"
        "@pytest.mark.parametrize('x', ITEMS)\ndef test_a(x): ...\ndef test_b(): kept()\n"
        "@pytest.mark.long\ndef test_c(): kept()\ndef test_d(): ALL[::20], ALL[::-1]\n"
    )
    assert [*unmarked(module)] == ["test_a", "test_b"]
    assert [*from_the_first(module)] == ["::20"]


def test_every_dear_test_is_there() -> None:
    """Of one that has another name now nobody would see that it is dear."""
    named = [each.split("::") for each in DEAR]
    modules = {path: (TESTS.parent / path).read_text(encoding="utf-8") for path, *_ in named}
    assert [(path, name) for path, *_, name in named if f"def {name}(" not in modules[path]] == []


def test_dear_tests_of_one_file_go_to_few_workers_and_first() -> None:
    tests = [name for dear in sorted(DEAR) for name in (dear, f"{dear}_of_no_cost")]
    shared = dear_first(tests, tests, 8)
    assert sorted(shared) == sorted(tests)
    size = -(-len(tests) // 8)
    parts = [[test for test in shared[each * size : (each + 1) * size] if test in DEAR] for each in range(8)]
    assert max(map(len, parts)) - min(map(len, parts)) <= 8
    files = [{test.partition("::")[0] for test in part} for part in parts]
    assert sum(map(len, files)) < len(set.union(*files)) + 8
