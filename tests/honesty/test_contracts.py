"""The honesty law for the complete contracts of this repository (docs/honesty.md).

`examples/orders.md` is judged whole, with `examples/orders.http`, in which each of its facts has something to do. The
other complete contracts are those of `tests/cases`, with the exchanges that they have there: they break the law
nowhere, but not each of their facts is exercised. Of each, every STRIDE-th fact is taken away, other ones in each
contract; with `NINEFOLD_HONESTY=all`, every one (`make honesty`). `pytest -s` prints the tables.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest
from tests.test_cases import SERVED, compiled

from ninefold.ablate.report import report, to_text
from ninefold.ablate.requests import excuses
from ninefold.ablate.shards import Work, found
from ninefold.pipeline import compile_document

ROOT = Path(__file__).parents[2]
ORDERS = ROOT / "examples" / "orders.md"
REQUESTS = ROOT / "examples" / "orders.http"

STRIDE = 1 if os.environ.get("NINEFOLD_HONESTY") == "all" else 60
PROCESSES = os.cpu_count() or 1

ELSEWHERE = ("orders", "orders-with-what-the-operator-gives")
"""Cases of a contract that is judged whole."""


KNOWN = {
    (
        "places-known-by-two-coordinates",
        "2 place > fields > birds > allOf",
    ): "an object of which no member is named takes "
    "any member, so what `unknown members: refused` refuses hangs on what names them, and its trace does not say so",
}
"""What breaks the law as it is worded, and why it is let be."""


@cache
def complete() -> list[Path]:
    """The cases in which no question is open, and all that is stated is in force."""
    found = []
    for directory in SERVED:
        loaded = compiled(directory)
        if loaded.plan is not None and not loaded.open_questions and not loaded.plan.not_in_force:
            found.append(directory)
    return [directory for directory in found if directory.name not in ELSEWHERE]


def work(directory: Path) -> Work:
    example = directory / "example.txt"
    if example.exists():
        contract = ROOT / "examples" / example.read_text(encoding="utf-8").strip()
    else:
        (contract,) = directory.glob("contract.*")
    given = directory / "operator.json"
    operator = json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}
    files = tuple((path.name, path.read_text(encoding="utf-8")) for path in sorted((directory / "http").glob("*.http")))
    return Work(contract.name, contract.read_bytes(), files, operator)


@pytest.mark.slow
def test_the_example_does_nothing_that_it_does_not_state() -> None:
    requests = REQUESTS.read_text(encoding="utf-8")
    orders = Work(ORDERS.name, ORDERS.read_bytes(), ((REQUESTS.name, requests),), {})
    whole = orders.whole()
    told = report(whole.loaded.source, len(whole.asked), found(orders, PROCESSES), excuses(requests))
    print(to_text(told))
    assert told.holds, to_text(told)


@pytest.mark.slow
@pytest.mark.parametrize("directory", complete(), ids=lambda path: path.name)
def test_a_contract_does_nothing_that_it_does_not_state(directory: Path) -> None:
    case = work(directory)
    source = compile_document(case.name, case.data).source
    first = len(directory.name) % STRIDE
    told = report(source, 0, case.found(first, STRIDE), ())
    print(to_text(told))
    assert not [each for each in told.breaches if (directory.name, each.fact.address) not in KNOWN], to_text(told)
