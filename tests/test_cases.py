"""Every directory of `tests/cases` is a case: a contract and what is to come of it.

| file              | holds                                                                                   |
|-------------------|-----------------------------------------------------------------------------------------|
| `contract.md`     | the contract, or `contract.yaml`; `example.txt` names a file of `examples/` instead     |
| `diagnostics.txt` | what `ninefold check` says. Without the file the contract has neither error nor warning |
| `gaps.txt`        | what `ninefold gaps` says                                                               |
| `plan.json`       | its plan, laid out by `tests/plan_text.py`; every contract that has a plan has this file |
| `http/*.http`     | exchanges with the service (`tests/http_cases.py`), file after file in the order of names |
| `operator.json`   | what the operator gives, by name                                                        |

`NINEFOLD_BLESS=1` writes the first three as they come; what has changed is then to be read in the diff.

What the compiler makes of a contract is thus known byte for byte before and after every change of it. The seed of
hashes is another in every run, so that nothing of a plan can depend on the order of a set.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest
from tests.http_cases import serving, tell
from tests.plan_text import difference, plan_text

from ninefold.ablate.requests import Known, read_exchanges
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.gaps import to_text
from ninefold.pipeline import Loaded, compile_document

CASES = Path(__file__).parent / "cases"
EXAMPLES = Path(__file__).parents[1] / "examples"
DIRECTORIES = sorted(path for path in CASES.iterdir() if path.is_dir())
WRITTEN = ("diagnostics.txt", "gaps.txt")
PLAN = "plan.json"
EXPECTED = [directory / name for directory in DIRECTORIES for name in WRITTEN if (directory / name).exists()]
SERVED = [directory for directory in DIRECTORIES if (directory / "http").is_dir()]

BLESS = bool(os.environ.get("NINEFOLD_BLESS"))


@cache
def compiled(directory: Path) -> Loaded:
    path = contract_of(directory)
    return compile_document(path.name, path.read_bytes())


def contract_of(directory: Path) -> Path:
    example = directory / "example.txt"
    if example.exists():
        return EXAMPLES / example.read_text(encoding="utf-8").strip()
    (path,) = directory.glob("contract.*")
    return path


def said(name: str, loaded: Loaded) -> str:
    if name == "diagnostics.txt":
        return render(loaded.diagnostics, loaded.source)
    return to_text(loaded.contract, loaded.open_questions)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_compiler_says_what_is_expected(expected: Path) -> None:
    came = said(expected.name, compiled(expected.parent))
    if BLESS:
        expected.write_text(came, encoding="utf-8", newline="\n")
    assert came == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_the_plan_is_what_it_was(directory: Path) -> None:
    plan, golden = compiled(directory).plan, directory / PLAN
    if plan is None or contract_of(directory).stem not in ("contract", directory.name):
        assert not golden.exists(), "there is no such plan, or it is that of the example's own case"
        return
    came = plan_text(plan)
    if BLESS:
        golden.write_text(came, encoding="utf-8", newline="\n")
    assert golden.exists(), "NINEFOLD_BLESS=1 writes the plan"
    expected = golden.read_text(encoding="utf-8")
    if came != expected:
        pytest.fail(difference(expected, came), pytrace=False)


def test_every_example_is_a_case() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.md")} <= {directory.name for directory in DIRECTORIES}


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_a_case_without_diagnostics_has_none(directory: Path) -> None:
    if not (directory / "diagnostics.txt").exists():
        loaded = compiled(directory)
        told = [each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE]
        assert not told, render(told, loaded.source)


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_a_case_expects_something(directory: Path) -> None:
    names = {path.name for path in directory.iterdir()}
    assert names & {*WRITTEN, PLAN, "http"}
    assert names <= {*WRITTEN, PLAN, "http", "operator.json", "example.txt", "contract.md", "contract.yaml"}


def test_half_of_the_cases_are_wrong_or_half_written() -> None:
    unfinished = [directory for directory in DIRECTORIES if _is_unfinished(compiled(directory))]
    assert 2 * len(unfinished) >= len(DIRECTORIES)


def _is_unfinished(loaded: Loaded) -> bool:
    told = any(each.code.severity is not Severity.NOTE for each in loaded.diagnostics)
    return told or bool(loaded.open_questions)


@pytest.mark.serves
@pytest.mark.parametrize("directory", SERVED, ids=lambda path: path.name)
def test_the_service_answers_as_expected(directory: Path, tmp_path: Path) -> None:
    plan = compiled(directory).plan
    assert plan is not None, said("diagnostics.txt", compiled(directory))
    given = directory / "operator.json"
    operator = json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}
    for path in sorted((directory / "http").glob("*.http")):
        # The database goes on from file to file; rates, which only the process knows, begin anew.
        with serving(plan, tmp_path / "service.db", operator) as client:
            known: Known = {}
            for exchange in read_exchanges(path.read_text(encoding="utf-8")):
                try:
                    tell(client, exchange, known)
                except AssertionError as error:
                    raise AssertionError(f"{path.name}, {error}") from None
