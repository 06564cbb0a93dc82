"""What is nearly `none` or `not shown` is told as that, whichever key it stands at, and never as a word that is near it
by its letters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.contracts import ROOT
from tests.slices import some

from ninefold.contract.resolve.contract import resolve
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.source import Span
from ninefold.diff.ablate.facts import written
from ninefold.language.table import row_at
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import form_of, parse, read

LENDING = (ROOT / "examples/lending.yaml").read_text(encoding="utf-8").replace(
    "limits: none", "limits: {rates: none, body size: 1 KiB, timeout: PT1S}"
)  # fmt: skip
ORDERS = (ROOT / "examples/orders.md").read_text(encoding="utf-8")
PERMISSIONS = "{all others: anyone}"


def said(name: str, text: str) -> tuple[Diagnostic, ...]:
    found = compile_document(name, text.encode()).diagnostics
    return tuple(each for each in found if each.code.severity is Severity.ERROR)


def document_of(name: str, text: str) -> Document:
    source = read(name, text.encode()).value
    return parse(source, form_of(name, source.text)).value


def read_alone(name: str, text: str) -> tuple[Diagnostic, ...]:
    return tuple(each for each in resolve(document_of(name, text)).diagnostics if each.code.severity is Severity.ERROR)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("lending.yaml", LENDING, said), ("orders.md", ORDERS, read_alone)],
    ids=["lending", "orders"],
)
def test_none_is_advised_wherever_it_is_admitted_and_its_slip_is_not(
    name: str, text: str, said: Callable[[str, str], tuple[Diagnostic, ...]]
) -> None:
    told, others = 0, 0
    facts = {(each.part, each.path): each for each in written(document_of(name, text))}
    for fact in some(list(facts.values()), 4):
        row = row_at(fact.part, fact.path)
        if row is None or not fact.is_named:
            continue
        slip = f"{text[: fact.place.start]}None{text[fact.place.end :]}"
        for each in said(name, slip):
            if each.labels[0].span != Span(fact.place.start, fact.place.start + 4):
                continue
            assert not any(help.startswith("did you mean") for help in each.help), (fact.address, each)
            is_told = any("write `none`" in help for help in each.help)
            assert is_told == row.admits_none, (fact.address, each)
            told, others = told + is_told, others + (not is_told)
    assert told and others


@pytest.mark.parametrize(
    "slip", ["None", "NONE", "null", "~", "nobody", "No one", "never", '"none"', "[None]", "[nobody]"]
)
def test_what_is_closed_to_all_is_not_opened_by_advice(slip: str) -> None:
    [told] = said("x.yaml", LENDING.replace(PERMISSIONS, f"{{POST /books: {slip}, all others: anyone}}"))
    [help] = told.help
    assert help.startswith("where there is none, write `none`") and "anyone" not in help
    followed = LENDING.replace(PERMISSIONS, "{POST /books: none, all others: anyone}")
    assert not said("x.yaml", followed)


@pytest.mark.parametrize("kind", ["nobody", "never", "tbd"])
def test_what_is_declared_is_no_slip(kind: str) -> None:
    """A name that the contract chose is that name, though others write it for something else."""
    text = LENDING.replace("initial: here, states: [here,", f"initial: {kind}, states: [{kind},").replace(
        "here", kind
    )  # fmt: skip
    assert not said("x.yaml", text)


@pytest.mark.parametrize("key", ["timeout: ", "body size: "])
@pytest.mark.parametrize(
    ("slip", "word"),
    [
        *((each, "none") for each in ("None", "null", "~", "n/a", "unlimited", "no", "false")),
        *((each, "not shown") for each in ("Not shown", "not  shown", "not-shown", "NOT_SHOWN", "tbd", '"not shown"')),
    ],
)  # fmt: skip
def test_the_word_of_the_language_is_told(key: str, slip: str, word: str) -> None:
    value = {"timeout: ": "PT1S", "body size: ": "1 KiB"}[key]
    [told] = said("x.yaml", LENDING.replace(f"{key}{value}", f"{key}{slip}"))
    [help] = told.help
    assert f"write `{word}`" in help
    assert not said("x.yaml", LENDING.replace(f"{key}{value}", f"{key}{word}"))


@pytest.mark.parametrize("zero", ["0", "0s", "PT0S", "P0D"])
def test_no_time_at_all_is_not_advised_as_no_time_at_all(zero: str) -> None:
    [told] = said("x.yaml", LENDING.replace("timeout: PT1S", f"timeout: {zero}"))
    assert told.help == ("where there is none, write `none`",)


@pytest.mark.parametrize(
    ("condition", "help"),
    [("False", "write `false`"), *((each, "where there is none, write `false`") for each in ("never", "None"))],
)  # fmt: skip
def test_of_a_condition_the_word_is_false(condition: str, help: str) -> None:
    [told] = said("x.yaml", LENDING.replace(PERMISSIONS, f"{{all others: {{anyone: {condition}}}}}"))
    assert told.help[0] == help


@pytest.mark.parametrize("key", ["requestBody", "parameters", "security", "tags", "operationId"])
def test_what_openapi_calls_otherwise_is_told(key: str) -> None:
    [told] = said("x.yaml", LENDING.replace("does: read book,", f"does: read book, {key}: [title],"))
    assert told.code.id == "NF0314" and len(told.help) == 1


def test_none_itself_is_no_slip() -> None:
    """What is wrong with it is told beside the word that is right."""
    [told] = said("x.yaml", LENDING.replace("does: create book, body: [title]", "does: create book, body: none"))
    assert not any("write `none`" in help for help in told.help)
