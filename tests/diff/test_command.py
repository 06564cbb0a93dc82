"""`ninefold diff` as it is called: its exit status, its formats, and what it reads of git."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contracts import ROOT
from tests.sarif import VALIDATOR

from ninefold.cli import main
from ninefold.cli.document import compiled
from ninefold.runtime.operator.audit import Audit, Kept
from ninefold.runtime.store.sqlite import Opened, open_sqlite

ORDERS = ROOT / "examples" / "orders.md"
REQUESTS = ROOT / "examples" / "orders.http"
LOST_EDGE = ("from: [draft, placed], to: cancelled", "from: draft, to: cancelled")
LARGER = ("body size: 64 KiB", "body size: 128 KiB")


def changed(folder: Path, *edits: tuple[str, str]) -> str:
    text = ORDERS.read_text(encoding="utf-8")
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    path = folder / "new.md"
    path.write_text(text, encoding="utf-8")
    return os.path.relpath(path)


def test_a_contract_is_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(ORDERS), str(ORDERS), "--fail-on", "any"]) == 0
    assert capsys.readouterr().out == "nothing differs\n"


def test_what_breaks_is_told_with_a_request_that_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = changed(tmp_path, LOST_EDGE)
    assert main(["diff", str(ORDERS), new, "--requests", str(REQUESTS)]) == 1
    told = capsys.readouterr().out
    assert "breaking: `order > transitions > cancel > from > placed` is gone" in told
    assert "= for: senders, receivers, at POST /orders/{id}/cancel" in told
    assert "promise: no word of `compatible` covers it" in told
    assert "was 200" in told and "is  409" in told
    assert told.endswith("1 breaking\n")


def test_a_request_is_made_that_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(ORDERS), changed(tmp_path, LOST_EDGE), "--seek", "600"]) == 1
    told = capsys.readouterr().out
    assert re.search(r"= shown by: POST /orders/[^/ ]+/cancel   \(key customer [^ ]+, the order is placed\)\n", told)
    assert "      was 200 {" in told and "      is  409 {" in told


def test_that_no_request_shows_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a small contract, since all that can be asked of it is asked."""
    old = ROOT / "tests" / "cases" / "subscriptions-to-what-happens" / "contract.md"
    new, text = Path("new.md"), old.read_text(encoding="utf-8")
    assert "attempts: 2" in text
    new.write_text(text.replace("attempts: 2", "attempts: 1"), encoding="utf-8")
    main(["diff", str(old), str(new), "--seek", "60"])
    assert re.search(r"= no request shows it, of [\d,]+ that were told to both contracts\n", capsys.readouterr().out)
    main(["diff", str(old), str(new), "--seek", "0"])
    told = capsys.readouterr().out
    assert "breaking: `delivery > webhooks > attempts`" in told and "shows it" not in told


def test_the_status_is_that_of_the_bar(tmp_path: Path) -> None:
    larger = changed(tmp_path, LARGER)
    assert main(["diff", "--seek", "0", str(ORDERS), larger]) == 1
    assert main(["diff", "--seek", "0", str(ORDERS), larger, "--fail-on", "breaking"]) == 0
    assert main(["diff", "--seek", "0", str(ORDERS), larger, "--for", "receivers"]) == 0


def test_a_side_with_errors_has_no_clean_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = changed(tmp_path, ("to: cancelled", "to: canceled"))
    assert main(["diff", str(ORDERS), broken]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "there is no verdict: a side has errors" in told.err


def test_where_nobody_says_what_is_compatible_there_is_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ORDERS.read_text(encoding="utf-8")
    line = next(each for each in text.splitlines() if each.startswith("compatible:"))
    silent = tmp_path / "old.md"
    silent.write_text(text.replace(line, "compatible: not shown"), encoding="utf-8")
    more = ("    status:     {state: true}", "    status:     {state: true}\n    nick:       {type: string}")
    new = changed(tmp_path, LOST_EDGE, more)
    for form in ("text", "json", "sarif", "markdown"):
        assert main(["diff", "--seek", "0", str(silent), new, "--format", form]) == 2
        told = capsys.readouterr()
        assert "breaking" not in told.out + told.err and "\ncompatible: " not in told.out, form
        assert "no verdict: `compatible` of part 9 is not shown; 3 effect" in told.out + told.err, form
        assert "transitions > cancel > from" in told.out and "fields > nick" in told.out, form
    assert main(["diff", "--seek", "0", str(silent), str(silent)]) == 0
    assert capsys.readouterr().out == "nothing differs\n"


def test_each_format_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = changed(tmp_path, LOST_EDGE, LARGER)
    main(["diff", "--seek", "0", str(ORDERS), new, "--format", "json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["verdict"] for each in lines] == ["breaking", "look"]
    assert lines[0]["old"]["text"].startswith("cancel:") and lines[0]["new"] is None
    main(["diff", "--seek", "0", str(ORDERS), new, "--format", "sarif"])
    log = json.loads(capsys.readouterr().out)
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    assert [each["level"] for each in run["results"]] == ["error", "warning"]
    assert [each["partialFingerprints"] for each in run["results"]] == [
        {"meaning/v1": each["fingerprint"]} for each in lines
    ]
    assert [each["ruleId"] for each in run["results"]] == [each["code"] for each in lines]
    artifacts = [each["location"]["uri"] for each in run["artifacts"]]
    for result, line in zip(run["results"], lines, strict=True):
        [related] = result["relatedLocations"]
        place = related["physicalLocation"]
        assert artifacts[place["artifactLocation"]["index"]] == place["artifactLocation"]["uri"] == ORDERS.as_uri()
        assert place["region"]["startLine"] == line["old"]["line"]
    main(["diff", "--seek", "0", str(ORDERS), new, "--format", "markdown"])
    told = capsys.readouterr().out
    assert told.startswith("### Contract: 1 breaking, 1 look") and "| **breaking** |" in told


def test_a_database_is_a_side_as_it_was_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded, database = compiled(ORDERS.name, ORDERS.read_bytes()), str(tmp_path / "orders.db")
    assert loaded.plan is not None
    opening = open_sqlite(
        database, loaded.plan.schema, judge=Audit(loaded.plan.stored, contract=Kept(loaded.source, lambda _: ()))
    )
    assert isinstance(opening, Opened)
    # Also while it is served.
    assert main(["diff", "--database", database, str(ORDERS), "--fail-on", "any"]) == 0
    assert main(["diff", "--seek", "0", "--database", database, changed(tmp_path, LOST_EDGE)]) == 1
    assert f"was {database}:{ORDERS.name}:" in capsys.readouterr().out
    opening.database.close()
    assert main(["diff", "--database", str(tmp_path / "other.db"), str(ORDERS)]) == 2
    assert main(["diff", "--database", database, str(ORDERS), str(ORDERS)]) == 2
    assert main(["diff", str(ORDERS)]) == 2


def test_what_is_accepted_stands_in_nobodys_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, accepted = changed(tmp_path, LOST_EDGE, LARGER), tmp_path / "accepted.yaml"
    accepted.write_text("[]\n", encoding="utf-8")
    call = ["diff", "--seek", "0", str(ORDERS), new, "--accepted", str(accepted)]
    assert main(call) == 1
    fingerprints = [each.split()[-1] for each in capsys.readouterr().out.splitlines() if "= finding: " in each]
    assert len(fingerprints) == 2
    lines = [f"- {{finding: {each}, reason: nobody does it, date: 2026-11-22}}" for each in (*fingerprints, "0" * 16)]
    accepted.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(call) == 0
    told = capsys.readouterr()
    assert told.out == "nothing else differs; 2 accepted\n"
    assert "2 accepted in" in told.err and "0000000000000000 is accepted and not found" in told.err
    call[2] = "0.001"
    assert main(call) == 0
    assert "seconds were over" not in capsys.readouterr().err, "nobody has to see a request of what is accepted"
    assert main([*call[:5]]) == 1
    assert "seconds were over" in capsys.readouterr().err
    for wrong in ("a: b", "- {finding: a}", "- {finding: a, reason: b, date: soon}", "- {finding: a"):
        accepted.write_text(wrong, encoding="utf-8")
        assert main(call) == 2
        assert f"{accepted}:1:" in capsys.readouterr().err


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_commit_of_git_is_a_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    below = tmp_path / "below"
    below.mkdir()
    contract = below / "new.md"
    contract.write_text(ORDERS.read_text(encoding="utf-8"), encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    changed(below, LOST_EDGE)
    monkeypatch.chdir(below)
    for old in ("main:new.md", "main:below/new.md"):
        assert main(["diff", "--seek", "0", old, "new.md"]) == 1
        assert f"was {old}:" in capsys.readouterr().out
    for wrong in ("main:nothing.md", "other:new.md", "--x:new.md"):
        assert main(["diff", wrong, "new.md"]) == 2
    assert "does not exist in 'main'" in capsys.readouterr().err
    assert main(["diff", "-", "-"]) == 2 and "standard input" in capsys.readouterr().err


def test_git_shows_it_in_the_place_of_lines(tmp_path: Path) -> None:
    """Of files that are changed, new, gone, called otherwise and wrong; git is never stopped."""

    def shown(*arguments: str) -> str:
        ended = subprocess.run(["git", "diff", "-M", *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout + ended.stderr

    text = ORDERS.read_text(encoding="utf-8")
    for name in ("new.md", "other.md", "wrong.md", "gone.md"):
        (tmp_path / name).write_text(text if name[0] in "now" else f"- {name}", encoding="utf-8")
    driver = f"{sys.executable} -m ninefold diff --seek 0 --git-driver"
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "diff.ninefold.command", driver)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / ".git" / "info" / "attributes").write_text("*.md diff=ninefold\n", encoding="utf-8")
    changed(tmp_path, LOST_EDGE)
    git(tmp_path, "mv", "other.md", "called.md")
    (tmp_path / "called.md").write_text((tmp_path / "new.md").read_text(encoding="utf-8"), encoding="utf-8")
    git(tmp_path, "rm", "-q", "gone.md")
    (tmp_path / "wrong.md").write_text(text.replace("to: cancelled", "to: canceled"), encoding="utf-8")
    (tmp_path / "fresh.md").write_text("new", encoding="utf-8")
    git(tmp_path, "add", "new.md", "called.md", "wrong.md", "fresh.md")
    told = shown("HEAD")
    assert told.count("breaking: `order > transitions > cancel > from > placed` is gone") == 2
    assert "new.md:\nbreaking" in told and "other.md, called called.md now:\nbreaking" in told
    assert "was a/other.md:" in told and "  = for: senders" in told
    assert "fresh.md is new\n" in told and "gone.md is gone\n" in told
    assert "wrong.md:\n" in told and "there is no verdict: a side has errors" in told


def test_what_is_not_told_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where less is asked for than differs, no line says that nothing does."""
    new, accepted = changed(tmp_path, LOST_EDGE, LARGER), tmp_path / "accepted.yaml"
    call = ["diff", "--seek", "0", str(ORDERS), new]
    for asked, last in (
        (["--for", "owners"], "nothing else differs; 2 not asked for"),
        (["--for", "receivers"], "1 breaking; 1 not asked for"),
        (["--part", "8"], "1 look; 1 not asked for"),
        (["--part", "2", "--for", "senders"], "nothing else differs; 2 not asked for"),
    ):
        main([*call, *asked])
        assert capsys.readouterr().out.splitlines()[-1] == last
    main([*call, "--format", "json", "--for", "receivers"])
    [told] = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["for"] == ["receivers"] and [each["audience"] for each in told["effects"]] == ["receivers"]
    assert told["older_versions"] == ["2026-01-01"]
    main([*call, "--format", "json"])
    assert told["fingerprint"] in [json.loads(each)["fingerprint"] for each in capsys.readouterr().out.splitlines()]
    accepted.write_text(f"- {{finding: {told['fingerprint']}, reason: nobody does it, date: 2026-11-22}}\n")
    assert main([*call, "--for", "receivers", "--accepted", str(accepted)]) == 0
    assert capsys.readouterr().out == "nothing else differs; 1 not asked for, 1 accepted\n"
    for part in ("0", "10"):
        assert main([*call, "--part", part]) == 2
    assert main([*call, new]) == 2
    assert main([*call, "--git-driver"]) == 0
    assert "nobody else calls it so" in capsys.readouterr().err
    assert main(["diff", "--git-driver", "a.md"]) == 0, "as git calls it for what is not merged"
    assert capsys.readouterr().out == "a.md is not merged\n"
