"""`check` and `gaps` in their formats, `gaps` for one endpoint, and `schema`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ninefold.cli import main
from ninefold.cli.check import uri
from ninefold.tools.editor_schema import block_of, plain_form

ORDERS = Path(__file__).parents[2] / "examples" / "orders.md"


@pytest.fixture
def open_contract(tmp_path: Path) -> str:
    path = tmp_path / "orders.md"
    text = ORDERS.read_text(encoding="utf-8").replace("patch: merge", "patch: not shown")
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_gaps_for_an_endpoint(open_contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gaps", open_contract, "--for", "PATCH /orders/{id}"]) == 1
    assert "is not served: 1 question is open." in capsys.readouterr().out
    assert main(["gaps", open_contract, "--for", "get /orders"]) == 0
    assert "nothing stands between" in capsys.readouterr().out


@pytest.mark.parametrize("format", ["text", "json", "markdown", "sarif"])
def test_every_format_is_of_the_endpoint_alone(
    format: str, open_contract: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gaps", open_contract, "--for", "PATCH /orders/{id}", "--format", format]) == 1
    assert "how a patch is read" in capsys.readouterr().out.casefold()
    assert main(["gaps", open_contract, "--for", "POST /orders", "--format", format]) == 0
    assert "how a patch is read" not in capsys.readouterr().out.casefold()


def test_an_endpoint_that_is_not_there(open_contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gaps", open_contract, "--for", "PATCH /order/{id}"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "no endpoint PATCH /order/{id}" in said.err
    assert "did you mean `PATCH /orders/{id}`?" in said.err
    assert main(["gaps", open_contract, "--for", "x"]) == 2
    assert "its endpoints are POST /customers, " in capsys.readouterr().err


def test_an_endpoint_of_a_contract_without_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n")
    assert main(["gaps", str(path), "--for", "GET /tasks"]) == 2
    assert "part 4 shows no endpoint yet" in capsys.readouterr().err


def test_a_value_that_the_operator_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "orders.md"
    shown = "responses: {200: {data: page.items, next: page.next}}"
    text = ORDERS.read_text(encoding="utf-8")
    assert shown in text
    path.write_text(text.replace(shown, f'where: "order.note == operator.note"\n  {shown}'))
    call = ["gaps", str(path), "--for", "GET /orders"]
    assert main(call) == 1
    assert "operator.note: --set note=VALUE gives it" in capsys.readouterr().out
    assert main([*call, "--set", "note=x"]) == 0
    monkeypatch.setenv("NINEFOLD_SET_NOTE", "x")
    assert main(call) == 0
    assert main(["gaps", str(path), "--set", "note=x"]) == 2


@pytest.mark.parametrize("command", ["check", "gaps"])
def test_sarif_names_the_document_and_the_program(
    command: str, open_contract: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = Path(open_contract).read_text(encoding="utf-8").replace("required: [email, name]", "required: [email, nam]")
    Path(open_contract).write_text(wrong, encoding="utf-8")
    main([command, open_contract, "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["tool"]["driver"]["name"] == "ninefold"
    assert run["artifacts"][0]["location"]["uri"] == Path(open_contract).as_uri()
    assert run["results"]


def test_check_says_in_each_format_what_is_blocked(open_contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", open_contract]) == 0
    assert "1 of 13 endpoints is blocked" in capsys.readouterr().out
    assert main(["check", open_contract, "--format", "json"]) == 0
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["code"], line["severity"]) == ("blocked", "note")
    assert line["message"].startswith("PATCH /orders/{id} is blocked, not shown: ")
    written = Path(open_contract).read_text(encoding="utf-8").splitlines()
    assert written[line["line"] - 1].startswith("PATCH /orders/{id}:")
    assert main(["check", open_contract, "--format", "sarif"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "blocked" and result["message"]["text"] == line["message"]


def test_a_name_as_a_uri() -> None:
    assert uri("contracts/a b:ü.md") == "contracts/a%20b%3A%C3%BC.md"
    assert uri("-") == "-"
    assert uri("/tmp/a b.md") == "file:///tmp/a%20b.md"


def test_the_letter_is_plain_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.md"
    path.write_text('# A\n\n## 2\n\n```yaml\n"no\\e[31mte": {fields: {id: {type: string}}}\n```\n')
    for format in ("text", "markdown"):
        main(["gaps", str(path), "--format", format])
        assert "\x1b" not in capsys.readouterr().out


def test_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == plain_form()
    for written in ("endpoints", "4", "4. Endpoints", "Endpoints"):
        assert main(["schema", written]) == 0
        assert json.loads(capsys.readouterr().out) == block_of(4)
    assert main(["schema", "endpoint"]) == 2
    assert "did you mean `endpoints`?" in capsys.readouterr().err
    assert main(["schema", "10"]) == 2
