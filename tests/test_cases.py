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

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests import known_before, made_ready
from tests.contracts import DIRECTORIES, EXAMPLES, SERVED, compiled, contract_of, operator_of
from tests.golden import is_golden
from tests.http_cases import serving, tell
from tests.openapi.told import untold
from tests.plan_text import plan_text
from tests.slices import some
from tests.statements import running, unknown
from tests.trace.accounted import problems

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.diff.requests import Known, read_exchanges
from ninefold.expressions.tree import Typed, free_variables
from ninefold.pipeline import Loaded
from ninefold.plan.environment import EACH
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Statement, statements
from ninefold.tools.gaps import to_text

WRITTEN = ("diagnostics.txt", "gaps.txt")
PLAN = "plan.json"


def said(name: str, loaded: Loaded) -> str:
    if name == "diagnostics.txt":
        return render(loaded.diagnostics, loaded.source)
    return to_text(loaded.contract, loaded.open_questions)


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_the_compiler_says_what_is_expected(directory: Path) -> None:
    loaded = compiled(contract_of(directory))
    for expected in (directory / name for name in WRITTEN if (directory / name).exists()):
        is_golden(expected, said(expected.name, loaded))
    if not (directory / "diagnostics.txt").exists():
        told = [each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE]
        assert not told, render(told, loaded.source)


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_the_plan_is_what_it_was(directory: Path) -> None:
    plan, golden = compiled(contract_of(directory)).plan, directory / PLAN
    if plan is None or contract_of(directory).stem not in ("contract", directory.name):
        assert not golden.exists(), "there is no such plan, or it is that of the example's own case"
        return
    is_golden(golden, plan_text(plan))


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.name)
def test_no_statement_reads_an_item(directory: Path) -> None:
    """What is done for each item is done by one statement: what is read of an item stands in a table, in its row."""
    binds = (bound for each in statements(compiled(contract_of(directory)).plan) for bound in _binds(each))
    assert not [bound for bound in binds if EACH in free_variables(bound)]


def _binds(statement: Statement) -> Iterator[Typed]:
    return (bound for piece in statement.pieces for bound in piece.binds)


def test_every_example_is_a_case() -> None:
    assert {path.stem for path in EXAMPLES} <= {directory.name for directory in DIRECTORIES}


def test_a_case_expects_something() -> None:
    beside = {"operator.json", "example.txt", "contract.md", "contract.yaml"}
    for directory in DIRECTORIES:
        names = {path.name for path in directory.iterdir()}
        assert names & {*WRITTEN, PLAN, "http"}, directory.name
        assert names <= {*WRITTEN, PLAN, "http", *beside}, directory.name


def test_half_of_the_cases_are_wrong_or_half_written() -> None:
    unfinished = [directory for directory in DIRECTORIES if _is_unfinished(compiled(contract_of(directory)))]
    assert 2 * len(unfinished) >= len(DIRECTORIES)


def _is_unfinished(loaded: Loaded) -> bool:
    told = any(each.code.severity is not Severity.NOTE for each in loaded.diagnostics)
    return told or bool(loaded.open_questions)


@pytest.mark.serves
@pytest.mark.parametrize("directory", SERVED, ids=lambda path: path.name)
def test_the_service_answers_as_expected(directory: Path, tmp_path: Path) -> None:
    """The same exchanges are judged by five laws: every part of a response comes from somewhere, the OpenAPI document
    tells of it, every statement was known before, a row that is known before it is made is what a statement gives that
    says so, and what is made ready makes what is made one by one. So the service traces."""
    loaded = compiled(contract_of(directory))
    assert loaded.plan is not None, said("diagnostics.txt", loaded)
    with running() as ran, known_before.compared() as made, made_ready.compared() as ready:
        responses = exchanged(directory, loaded.plan, tmp_path / "service.db", trace=True)
    found = [
        f"{each.request.method} {each.url.path} {each.status_code}: {problem}"
        for each in responses
        for problem in (*problems(loaded, each), *untold(loaded, each))
    ]
    assert not found, "\n".join(dict.fromkeys(found))
    assert ran or loaded.plan.calls()  # no function is given here: what calls one is answered 501
    assert not unknown(loaded.plan, ran)
    assert not known_before.different(made)
    assert not made_ready.different(ready)


@pytest.mark.long
@pytest.mark.serves
@pytest.mark.parametrize("directory", some(SERVED, 16), ids=lambda path: path.name)
def test_so_it_does_without_a_trace(directory: Path, tmp_path: Path) -> None:
    plan = compiled(contract_of(directory)).plan
    assert plan is not None
    assert exchanged(directory, plan, tmp_path / "service.db", trace=False)


def exchanged(
    directory: Path,
    plan: ServicePlan,
    database: Path | str,
    trace: bool,
    anew: Callable[[], object] = lambda: None,
    pooled: bool = False,
) -> list[httpx.Response]:
    """What a service answers to the requests of a case. `anew`: forgets what rates have counted, where more than the
    process knows it. `pooled`: as of `serving`. Raises AssertionError where that is not what is expected."""
    responses: list[httpx.Response] = []

    def kept(response: httpx.Response) -> None:
        response.read()
        responses.append(response)

    for path in sorted((directory / "http").glob("*.http")):
        # The database goes on from file to file; rates begin anew.
        anew()
        with serving(plan, database, operator_of(directory), trace, pooled=pooled) as client:
            client.event_hooks["response"] = [kept]
            known: Known = {}
            for exchange in read_exchanges(path.read_text(encoding="utf-8")):
                try:
                    tell(client, exchange, known)
                except AssertionError as error:
                    raise AssertionError(f"{path.name}, {error}") from None
    return responses
