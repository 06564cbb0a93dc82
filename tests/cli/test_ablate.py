"""`ninefold ablate`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ninefold.cli import main

CASE = Path(__file__).parents[1] / "cases" / "todos-of-an-owner"
CONTRACT, REQUESTS = str(CASE / "contract.md"), str(CASE / "http")


def test_the_table_counts_facts_by_kind_and_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ablate", CONTRACT, "--requests", REQUESTS, "--only", "5 unseen rows", "--processes", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 fact, ")
    assert "taken out  asked" in printed and "gap" in printed


def test_json_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--only", "4 requests*", "--processes", "1", "--format", "json"]
    assert main(["ablate", CONTRACT, "--requests", REQUESTS, *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] and not told["breaches"]
    assert {each["outcome"] for each in told["counts"]} >= {"gap"}


def test_a_fact_that_is_not_exercised_is_a_finding_unless_there_is_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = tmp_path / "requests.http"
    requests.write_text("GET /nothing\n\nHTTP 404\n")
    given = ["ablate", CONTRACT, "--requests", str(requests), "--only", "2 * > fields > name > maxLength"]
    assert main([*given, "--processes", "1"]) == 1
    assert "Not exercised by any request" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "line 1: neither a request nor a response"),
        ("GET /nothing\n\nHTTP 200\n", "200 is expected, and 404 came"),
        ("GET /{{nobody}}\n", "nothing before has said what {{nobody}} is"),
    ],
)
def test_requests_that_cannot_be_told_are_told(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = tmp_path / "requests.http"
    requests.write_text(text)
    assert main(["ablate", CONTRACT, "--requests", str(requests)]) == 2
    assert words in capsys.readouterr().err


def test_a_pattern_of_no_fact_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ablate", CONTRACT, "--requests", REQUESTS, "--only", "9 nothing"]) == 2
    assert "no fact of the contract is called `9 nothing`" in capsys.readouterr().err


def test_a_contract_with_errors_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract = tmp_path / "contract.md"
    contract.write_text("# Broken\n\n## 2. Resources\n\n```yaml\ntodo: {identifer: id}\n```\n")
    assert main(["ablate", str(contract), "--requests", REQUESTS]) == 1
    assert "identifer" in capsys.readouterr().err
