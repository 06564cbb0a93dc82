"""What each command prints and returns."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import msgspec
import pytest

import ninefold
from ninefold.cli import document, main
from ninefold.cli.commands import COMMANDS
from ninefold.diagnostics.codes import CODES
from ninefold.diagnostics.explanations import explanation
from ninefold.pipeline import load
from ninefold.plan.service import ServicePlan

EXAMPLES = Path(__file__).parents[2] / "examples"
ORDERS = str(EXAMPLES / "orders.md")


@pytest.fixture
def blank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    path = str(tmp_path / "blank.md")
    assert main(["new", path]) == 0
    capsys.readouterr()
    yield path


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.md"
    path.write_text("# Broken\n\n## 4. Endpoints\n\n```yaml\nGET /x: {does: read nothing, responses: {200: nothing}}\n")
    return str(path)


def test_new_writes_a_contract_with_nine_gaps(blank: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", blank]) == 0
    assert main(["gaps", blank, "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert len(shown["gaps"]) == 9 and not shown["complete"]
    assert {part["answer"] for part in shown["parts"]} == {"not shown"}


def test_new_never_overwrites(blank: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(blank).read_bytes()
    assert main(["new", blank, "--title", "Other"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert Path(blank).read_bytes() == before


def test_new_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "-", "--title", "Notes"]) == 0
    assert capsys.readouterr().out.startswith("# Notes\n")


def test_new_in_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", str(tmp_path / "no" / "contract.md")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "gaps", "plan"])
def test_the_example_is_clean(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, ORDERS]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["check", "gaps", "plan", "serve"])
def test_errors_are_findings(command: str, broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, broken]) == 1
    said = capsys.readouterr()
    assert "error[NF" in (said.out if command == "check" else said.err)


def test_check_tells_what_becomes_of_outcomes_that_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "tests/cases/wishes-that-are-there-or-not/contract.md"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert "PUT /things/{code}: `replaced` is refused as `different`, 409 `other`" in told


def test_check_as_json_is_an_object_a_line(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", broken, "--format", "json"]) == 1
    for line in capsys.readouterr().out.splitlines():
        assert {"code", "message", "line", "column"} <= json.loads(line).keys()


@pytest.mark.parametrize("command", ["check", "gaps", "plan", "serve"])
def test_a_file_that_cannot_be_read(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR)
    gives_up = Timer(60, os.close, [held])  # whoever waits for what is written reads on, and the test fails
    gives_up.start()
    for file in (tmp_path, tmp_path / "nothing.md", tmp_path / ("long" * 100), "", "a\0b", pipe):
        assert main([command, str(file)]) == 2
        said = capsys.readouterr()
        assert "cannot be read" in said.err and said.out == ""
    gives_up.cancel()
    os.close(held)


def test_a_pipe_that_is_handed_over_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as filled:
        filled.write("# Nothing\n")
    assert main(["gaps", f"/dev/fd/{reading}"]) == 1 and "no endpoint to serve" in capsys.readouterr().out
    os.close(reading)


def test_a_contract_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(ORDERS).read_bytes())))
    assert main(["gaps", "-"]) == 0
    assert "Complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["frob"], ["check"], ["check", ORDERS, "more"], ["check", "--frob"], ["gaps", ORDERS, "--format", "x"]],
)
def test_a_wrong_call(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.err and said.out == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"ninefold {command}" in capsys.readouterr().out.partition("\n")[2]


def test_the_program_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(each.help in shown for each in COMMANDS.values())
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == ninefold.__version__


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_is_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", code]) == 0
    assert capsys.readouterr().out.startswith(f"# {code}: {explanation(code).title}\n")


def test_a_code_is_found_however_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    code = min(CODES)
    for written in (code.lower(), f"[{code}]", code[2:]):
        assert main(["explain", written]) == 0
    assert main(["explain", f"{code} "]) == 0
    assert main(["explain", code.replace("NF", "FN")]) == 2
    assert "did you mean `NF" in capsys.readouterr().err


def test_the_plan_as_json_is_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", ORDERS, "--format", "json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=ServicePlan) == load(ORDERS).plan


@pytest.mark.parametrize("contract", ["orders.md", "conduit.md"])
def test_the_plan_for_people_names_every_endpoint_and_bind(contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", str(EXAMPLES / contract), "--format", "json"])
    plan: Any = json.loads(capsys.readouterr().out or '{"routes": []}')
    assert main(["plan", str(EXAMPLES / contract)]) == status
    lines = capsys.readouterr().out.splitlines()
    older = [each.get("routes", ()) for each in plan.get("versions", {}).get("versions", ())]
    keys = [route["key"] for routes in (plan["routes"], *older) for route in routes]
    assert keys == [line for line in lines if line in keys]
    placeholders = sum(
        line.count("?") for line in lines if line.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH"))
    )
    assert placeholders <= sum(line.lstrip().startswith("? ") for line in lines)


def test_nothing_to_serve(blank: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", blank]) == 1
    said = capsys.readouterr()
    assert "9 questions are open" in said.out and "nothing to serve" in said.err


def test_our_fault_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object) -> None:
        raise LookupError("a secret of the contract")

    monkeypatch.setattr(document, "compile_document", fails)
    monkeypatch.delenv("NINEFOLD_DEBUG", raising=False)
    assert main(["check", ORDERS]) == 3
    said = capsys.readouterr().err
    assert "LookupError" in said and "our fault" in said and "secret" not in said and "Traceback" not in said
    monkeypatch.setenv("NINEFOLD_DEBUG", "1")
    assert main(["check", ORDERS]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = [sys.executable, "-m", "ninefold", "plan", ORDERS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_colour_is_for_terminals(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def written() -> str:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        main(["check", broken])
        return terminal.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in written()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in written()
