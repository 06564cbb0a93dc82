"""`ninefold explain`: what it takes for a code, a file and an endpoint, and what it says where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ninefold.cli import main
from ninefold.pipeline import load
from ninefold.trace.identifier import Trace, digest, outcome_number, write

ORDERS = str(Path(__file__).parents[2] / "examples" / "orders.md")


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    return capsys


def test_a_service_is_explained(said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ORDERS]) == 0
    out = said.readouterr().out
    assert out.startswith("Service Specification: Orders: ")
    assert "9. Versioning" in out


def test_an_endpoint_is_explained_however_it_is_spaced(said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ORDERS, "post  /orders"]) == 0
    assert said.readouterr().out.startswith("POST /orders: served\n")


def test_json_and_markdown(said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ORDERS, "GET /orders/{id}", "--format", "json"]) == 0
    assert json.loads(said.readouterr().out)["about"] == "GET /orders/{id}"
    assert main(["explain", ORDERS, "GET /orders/{id}", "--format", "markdown"]) == 0
    assert said.readouterr().out.startswith("# GET /orders/{id}\n")


def test_statements_are_shown_where_they_are_asked_for(said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ORDERS, "GET /orders/{id}", "--statements"]) == 0
    assert "SELECT " in said.readouterr().out


@pytest.mark.parametrize(
    ("endpoint", "help"),
    [
        ("POST /order", "did you mean `POST /orders`?"),
        ("PUT /orders", "of this path there are `POST /orders`, `GET /orders`"),
        ("/orders/{id}/place", "of this path there is `POST /orders/{id}/place`"),
        ("", "there are 13 endpoints"),
    ],
)
def test_an_unknown_endpoint_is_answered_with_the_nearest(
    endpoint: str, help: str, said: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", ORDERS, endpoint]) == 2
    assert help in said.readouterr().err


def test_a_contract_with_errors_is_explained_and_is_a_finding(tmp_path: Path, said: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.md"
    path.write_text(Path(ORDERS).read_text(encoding="utf-8").replace("order.total > 0", "order.totl > 0"))
    assert main(["explain", str(path), "GET /orders"]) == 1
    assert said.readouterr().out.startswith("GET /orders: not served: the contract has errors\n")


@pytest.mark.parametrize(
    ("called", "now"),
    [
        ("otherwise", "`RESOURCE.transitions.TRANSITION.otherwise` of part 3 is now `else` under `check`"),
        ("RESOURCE.identifier", "`RESOURCE.identifier` of part 2 is now `primary key`"),
        ("ensure", "the verb `ensure` is now `put`"),
        ("rate limited", "the condition `rate limited` is now `too many requests`"),
        ("nothig", None),
    ],
)
def test_what_was_called_otherwise_is_told_as_it_is_called_now(
    called: str, now: str | None, said: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", called]) == 2
    told = " ".join(said.readouterr().err.split())
    assert " is now " not in told if now is None else now in told


@pytest.mark.parametrize("heading", ["put R", "sign in R", "a transition: `close note`"])
def test_an_entry_is_asked_for_by_its_heading_too(heading: str, said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", heading]) == 0
    assert "docs/reference/4-endpoints.md#" in said.readouterr().out


def test_what_is_neither_a_file_nor_a_code(said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nothing"]) == 2
    assert "there is neither a file nor a code nor a word nothing" in said.readouterr().err
    assert main(["explain", "nothing.md"]) == 2
    assert "nothing.md cannot be read" in said.readouterr().err


@pytest.mark.parametrize(
    ("word", "begin", "has"),
    [
        ("on delete", "RESOURCE.fields.FIELD.on delete: docs/reference/2-resources.md#", "one deletion"),
        ("Sign In", "sign in R: docs/reference/4-endpoints.md#sign-in-r", "RFC 9106"),
        ("truth", "Truth: docs/language.md#truth", "is not true, and stays so"),
        ("gone", "gone: docs/reference/7-errors.md#gone", "410"),
        ("effects", "ENDPOINT.also: docs/reference/4-endpoints.md#", "`this` is the row acted on"),
        ("replace", "Functions: docs/expressions.md#functions", "the verb `replace` is now `put`"),
        ("sortBy", "Macros: docs/expressions.md#macros", "nulls last"),
        ("uniqueItems", "Schemas: docs/reference/schemas.md#schemas", "Whether all items differ."),
        ("nullable", "What templates have: docs/expressions.md#what-templates-have", 'type: [string, "null"]'),
    ],
)
def test_a_word_is_explained_as_the_reference_does(
    word: str, begin: str, has: str, said: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", word]) == 0
    out = said.readouterr().out
    assert out.startswith(begin) and has in " ".join(out.split())


def test_what_stands_at_several_keys_is_told_once(said: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "rows that may be there"]) == 0
    assert said.readouterr().out.count("If-Match") == 1
    assert main(["explain", "also"]) == 0
    assert "ENDPOINT.also: " in (out := said.readouterr().out) and out.count("Effects. ") == 1


def test_a_file_that_is_called_like_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "contract").write_text("# Notes\n")
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "contract"]) == 0
    assert said.readouterr().out.startswith("Notes: there is no endpoint to serve\n")


def test_a_word_that_a_directory_is_called_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").mkdir()
    monkeypatch.chdir(tmp_path)
    for word in ("examples", "/"):
        assert main(["explain", word]) == 0
        assert said.readouterr().out.count("docs/") == 1


def identifier_of(path: str, trace: Trace) -> str:
    plan = load(path).plan
    assert plan is not None
    return write(digest(plan), trace)


def test_a_response_is_explained_by_what_it_carries(said: pytest.CaptureFixture[str]) -> None:
    text = identifier_of(ORDERS, Trace(0, 0, 0, outcome_number("answered"), 201))
    assert main(["explain", ORDERS, "--response", text]) == 0
    out = said.readouterr().out
    assert out.startswith("POST /customers: answered 201 to anyone")
    assert "  `/api_key`: made: a credential or secret that was just made" in out
    assert main(["explain", ORDERS, "--response", f"ninefold-trace: {text}", "--format", "json"]) == 0
    assert json.loads(said.readouterr().out)["about"] == "POST /customers"


def test_what_is_no_response_of_the_contract(tmp_path: Path, said: pytest.CaptureFixture[str]) -> None:
    text = identifier_of(ORDERS, Trace(0, 0, 0, outcome_number("answered"), 201))
    longer = tmp_path / "orders.md"
    longer.write_text(Path(ORDERS).read_text(encoding="utf-8").replace("## 1.", "\n## 1."), encoding="utf-8")
    for path, given, words in (
        (ORDERS, "latest", "what is given is not the value of a `Ninefold-Trace` header"),
        (ORDERS, text[:-1], "the identifier is not whole"),
        (str(longer), text, "it was made by another contract, by another state of this one"),
    ):
        assert main(["explain", path, "--response", given]) == 2
        assert words in said.readouterr().err
