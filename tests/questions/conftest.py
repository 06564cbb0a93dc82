"""Contracts for the questions: read, parsed and resolved, and not checked further."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ninefold.contract.questions.ask import ask
from ninefold.contract.resolve.contract import resolve
from ninefold.contract.service import Contract
from ninefold.language.question import OpenQuestion
from ninefold.syntax.parser import Form, parse, read

EXAMPLES = Path(__file__).parents[2] / "examples"


def contract_of(text: str, accept: bool = False) -> Contract:
    document = parse(read("contract.md", text.encode()).value, Form.LITERATE).value
    return resolve(document, accept).value


@pytest.fixture(scope="session")
def orders() -> str:
    return (EXAMPLES / "orders.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def conduit() -> str:
    return (EXAMPLES / "conduit.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def read_contract() -> Callable[[str], Contract]:
    return contract_of


@pytest.fixture(scope="session")
def asked() -> Callable[[str], tuple[OpenQuestion, ...]]:
    """The open questions of a text."""
    return lambda text: ask(contract_of(text))
