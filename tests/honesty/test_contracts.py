"""The honesty law for the complete contracts of this repository (docs/honesty.md).

`examples/orders.md` is judged with `examples/orders.http`, in which each of its facts has something to do. The other
complete contracts are those of `tests/cases`, with the exchanges that they have there: they break the law nowhere, but
not each of their facts is exercised. A sample takes away every so-manieth fact of a contract, the long run one of those
that are alike (`tests/facts.py`), and `make honesty` every one; `make test` takes away fewer of the cases. `pytest -s`
prints the tables.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.contracts import ROOT, SERVED, compiled, contract_of, operator_of
from tests.facts import is_tried_closely, one_of_each
from tests.slices import LONG, PARTS, PIECES, WHOLE, some

from ninefold.diff.ablate.ablate import Work, ablate
from ninefold.diff.ablate.facts import Removal, Written, written
from ninefold.diff.ablate.fixed import Whole
from ninefold.diff.ablate.law import Found
from ninefold.diff.ablate.report import report, to_text
from ninefold.diff.requests import Excuse, excuses

ORDERS = ROOT / "examples" / "orders.md"
REQUESTS = ROOT / "examples" / "orders.http"

FEW = 4 if WHOLE else 2
"""Pieces of a case: each begins with all that is asked of the whole contract."""

STRIDE = 8 * PIECES
FEW_PARTS = range(FEW) if LONG else PARTS
CASES = some(SERVED, 20)

EXCUSES = excuses(REQUESTS.read_text(encoding="utf-8"))

ELSEWHERE = ("orders", "orders-with-what-the-operator-gives")
"""Cases of a contract that is judged whole."""


def is_complete(directory: Path) -> bool:
    """Whether no question is open in a case, and all that is stated is in force."""
    loaded = compiled(contract_of(directory))
    return loaded.plan is not None and not loaded.open_questions and not loaded.plan.not_in_force


def work(directory: Path) -> Work:
    contract = contract_of(directory)
    files = tuple((path.name, path.read_text(encoding="utf-8")) for path in sorted((directory / "http").glob("*.http")))
    return Work(contract.name, contract.read_bytes(), files, operator_of(directory))


def found(directory: Path, part: int) -> list[Found]:
    whole = work(directory).whole()
    facts = piece_of(directory.name, written(whole.loaded.document), part)
    return removed(whole, facts, [each for each in facts if not LONG or is_tried_closely(directory.name, each)])


def removed(whole: Whole, facts: list[Written], closely: list[Written]) -> list[Found]:
    """Each is taken out; `not shown` and `none`, which are of the language and seldom of a contract, stand in the place
    of some."""
    taken_out: tuple[Removal, ...] = ("taken out",)
    return [*ablate(whole, closely), *ablate(whole, [each for each in facts if each not in closely], taken_out)]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_the_example_does_nothing_that_it_does_not_state(part: int) -> None:
    orders = Work(ORDERS.name, ORDERS.read_bytes(), ((REQUESTS.name, REQUESTS.read_text(encoding="utf-8")),), {})
    whole = orders.whole()
    every = written(whole.loaded.document)
    facts, alike = list(every[part :: PIECES if LONG else 4 * PIECES]), one_of_each(ORDERS.name, every)
    came = removed(whole, facts, [each for each in facts if not LONG or each in alike])
    told = report(compiled(ORDERS).source, 0, came, EXCUSES)
    print(to_text(told))
    assert not told.breaches and all(each.reason for each in told.quiet), to_text(told)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("excuse", some(EXCUSES, PIECES), ids=lambda excuse: excuse.facts)
def test_what_is_excused_is_not_exercised(excuse: Excuse) -> None:
    orders = Work(ORDERS.name, ORDERS.read_bytes(), ((REQUESTS.name, REQUESTS.read_text(encoding="utf-8")),), {})
    assert any(each.is_quiet for each in replace(orders, only=excuse.facts).found())


def piece_of(case: str, every: tuple[Written, ...], part: int) -> list[Written]:
    """The facts of a contract that a piece takes away."""
    if LONG:
        return one_of_each(case, every)[part::FEW]
    return list(every[(part + len(case)) % min(STRIDE, len(every)) :: STRIDE])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", FEW_PARTS)
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_a_contract_does_nothing_that_it_does_not_state(directory: Path, part: int) -> None:
    if directory.name in ELSEWHERE or not is_complete(directory):
        return
    told = report(compiled(contract_of(directory)).source, 0, found(directory, part), ())
    print(to_text(told))
    assert not told.breaches, to_text(told)
