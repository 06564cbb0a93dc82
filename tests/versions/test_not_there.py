"""What a change is of is looked for before what it says of it: what is not there is told, and nothing else."""

from __future__ import annotations

import re
from typing import Final

import pytest
from tests.contracts import ROOT, contract_of

from ninefold.diagnostics.codes import NO_SUCH_CHANGE, NOT_THERE
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.pipeline import compile_document

TEXT: Final = contract_of(ROOT / "tests" / "cases" / "changes-that-say-too-little-or-too-much").read_text()

ABSENT: Final = (
    "nothing",
    "book.nothing",
    "book.views.nothing",
    "GET /nothing",
    "GET /books.query.nothing",
    "GET /books.request headers.nothing",
    "GET /books.cases.nothing",
)
BESIDE: Final = {"remove": "on create: \"'0'\"", "change": "is: 'true'"}
"""What is said of fields alone, by the verb beside which it is said."""


def told(change: str) -> list[Diagnostic]:
    """The errors that one change brings."""
    changed = re.sub(r"(?s)    changes:\n.*?(?=compatible:)", f"    changes: [{{{change}}}]\n", TEXT)
    said = compile_document("shelf.md", changed.encode()).diagnostics
    return [each for each in said if each.code.severity is Severity.ERROR]


@pytest.mark.parametrize("verb", BESIDE)
@pytest.mark.parametrize("subject", ABSENT)
def test_what_is_not_there_is_told_alone(subject: str, verb: str) -> None:
    (one,) = told(f"{verb}: {subject}, {BESIDE[verb]}")
    assert one.code is NOT_THERE and f"`{subject}`" in one.message, one


@pytest.mark.parametrize("verb", BESIDE)
@pytest.mark.parametrize("subject", ["lost", "GET /stats"])
def test_what_is_there_is_told_what_is_not_of_it(subject: str, verb: str) -> None:
    (one,) = told(f"{verb}: {subject}, {BESIDE[verb]}")
    assert one.code is NO_SUCH_CHANGE and "says nothing of" in one.message, one


def test_a_parameter_is_told_what_is_not_of_it_and_nothing_else() -> None:
    (one,) = told(f"remove: GET /books.query.title, {BESIDE['remove']}")
    assert one.code is NO_SUCH_CHANGE and one.message == "`on create` says nothing of a parameter", one
