"""Who may call an endpoint that only older versions have: a line of part 5 that names it, and no other."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from tests.http_cases import serving

from ninefold.cli import main
from ninefold.contract.versions.derive import derive
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.routes import Served
from ninefold.tools.gaps import blocked_in_words

CONTRACT = """purpose: Keeps notes.
resources:
  user:
    primary key: id
    fields:
      id: {type: string, maxLength: 20}
      key: {type: string, secret: token, on create: token()}
  note:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      text: {type: string, maxLength: 80}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /users: {does: create user, body: [id], responses: {201: {key: issued.key}}}
  GET /notes: {does: list note, sort: [id], pages: none, responses: {200: page.items}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: user.key}}
  rows: {user: {key: true, anyone: false}, note: all}
  unseen rows: not found
  permissions: LINES
events: none
errors: none
limits: {rates: none, body size: none, timeout: none}
versioning:
  in: header
  name: Api-Version
  default: "3"
  compatible: none
  versions:
    "3": {}
    "2": {changes: SECOND}
    "1": {changes: FIRST}
"""

OLD = "{add: GET /old, was: {does: list note, sort: [id], pages: none, responses: {200: page.items}}}"


def contract(lines: str, second: str = f"[{OLD}]", first: str = "none") -> str:
    return CONTRACT.replace("LINES", lines).replace("SECOND", second).replace("FIRST", first)


def loaded(text: str) -> Loaded:
    return compile_document("contract.yaml", text.encode())


def said(whole: Loaded) -> list[str]:
    return [each.code.id for each in whole.diagnostics]


def callers(whole: Loaded, version: str, key: str) -> list[str] | None:
    """Who may call an endpoint of a version; None: it is not served there."""
    plan = whole.plan
    assert plan is not None and plan.versions is not None
    older = next(each for each in plan.versions.versions if each.name == version)
    route = next(each for each in (older.routes or plan.routes) if each.key == key)
    return [each.who for each in route.admissions] if isinstance(route, Served) else None


@pytest.mark.parametrize(
    ("lines", "admitted"),
    [
        ("{GET /old: key, all others: anyone}", ["key"]),
        ("{all others: key, GET /old: [key, anyone]}", ["key", "anyone"]),
        ("{GET /old: {key: caller.user.id == 'ann', anyone: false}, all others: anyone}", ["key"]),
        ("{GET /old: none, all others: anyone}", []),
    ],
)
def test_a_line_names_an_endpoint_of_an_older_version(lines: str, admitted: list[str]) -> None:
    whole = loaded(contract(lines, first="[{rename: GET /old, to: GET /older}]"))
    assert said(whole) == [] and whole.open_questions == ()
    assert callers(whole, "2", "GET /old") == callers(whole, "1", "GET /older") == admitted
    assert whole.plan is not None
    assert {each.key for each in whole.plan.routes} == {"POST /users", "GET /notes"}


@pytest.mark.parametrize(
    "second",
    [f"[{OLD}]", f"[{{rename: GET /notes, to: GET /all}}, {OLD}]", f"[{{remove: GET /notes}}, {OLD}]"],
)
def test_one_without_a_line_is_asked_for_and_all_others_does_not_reach_it(second: str) -> None:
    whole = loaded(contract("{all others: anyone}", second))
    assert said(whole) == []
    (question,) = whole.open_questions
    assert (question.text, question.blocks) == ("who may call `GET /old`", ("GET /old",))
    assert whole.source.text[question.span.start : question.span.end] == "GET /old"
    older = whole.older[0].checked
    assert older is not None
    assert [each.key for each in older.stopped] == ["GET /old"]
    assert callers(whole, "3", "GET /notes") == ["anyone"]


def test_each_one_without_a_line_is_asked_for_once() -> None:
    both = f"[{OLD}, {OLD.replace('/old', '/older')}]"
    whole = loaded(contract("{all others: anyone}", both, f"[{OLD.replace('/old', '/oldest')}]"))
    assert [each.blocks for each in whole.open_questions] == [("GET /old",), ("GET /older",), ("GET /oldest",)]


@pytest.mark.parametrize("line", ["not shown", "{key: not shown}", "!proposed key"])
def test_a_line_that_is_not_shown_blocks_that_endpoint_alone(line: str) -> None:
    whole = loaded(contract(f"{{GET /old: {line}, all others: anyone}}"))
    (question,) = whole.open_questions
    assert (question.question.id, question.blocks) == ("callers", ("GET /old",))
    assert whole.checked is not None and whole.checked.stopped == ()
    assert callers(whole, "1", "GET /notes") == ["anyone"]


@pytest.mark.parametrize(
    ("lines", "second", "admitted"),
    [
        ("{GET /notes: key, all others: anyone}", "[{remove: GET /notes}, ADD]", ["key"]),
        ("{all others: anyone}", "[{remove: GET /notes}, ADD]", ["anyone"]),
        ("{GET /notes: key, all others: anyone}", "[{rename: GET /notes, to: GET /all}, ADD]", ["key"]),
    ],
)
def test_one_whose_key_a_newer_version_uses_has_its_line(lines: str, second: str, admitted: list[str]) -> None:
    added = OLD.replace("/old", "/notes")
    whole = loaded(contract(lines, second.replace("ADD", added)))
    assert said(whole) == ["NF0752"]
    assert callers(whole, "2", "GET /notes") == callers(whole, "3", "GET /notes") == admitted


def test_the_line_of_what_was_is_none_of_what_is_renamed_to_it() -> None:
    """`GET /old` of version 2 is `GET /notes`; that of version 1 is another endpoint, which the line names."""
    second = "[{rename: GET /notes, to: GET /old}]"
    whole = loaded(
        contract("{GET /old: key, all others: anyone}", second, f"[{{rename: GET /old, to: GET /all}}, {OLD}]")
    )
    assert said(whole) == []
    assert callers(whole, "2", "GET /old") == callers(whole, "1", "GET /all") == ["anyone"]
    assert callers(whole, "1", "GET /old") == ["key"]


def test_a_line_names_an_endpoint_that_some_version_has() -> None:
    assert said(loaded(contract("{GET /olt: key, GET /old: key, all others: anyone}"))) == ["NF0312"]
    assert said(loaded(contract("{GET /old: key, all others: anyone}", "[{rename: GET /notes, to: GET /old}]"))) == [
        "NF0312"
    ]


def test_where_a_way_back_is_not_shown_no_line_is_judged() -> None:
    whole = loaded(contract("{GET /old: key, all others: anyone}", "not shown"))
    assert said(whole) == []
    assert [each.question.id for each in whole.open_questions] == ["changes"]


def test_a_change_does_not_say_it_itself() -> None:
    whole = loaded(contract("{all others: anyone}", f"[{OLD[:-1]}, permissions: key}}]"))
    (first, *_) = whole.diagnostics
    assert first.message == "`a change` has no key `permissions`"
    assert first.help[0] == "`permissions` is now a line of `permissions` in part 5"


def test_the_derived_contract_has_the_lines_of_its_endpoints() -> None:
    whole = loaded(contract("{GET /old: key, all others: anyone}", "none", f"[{OLD}]"))
    second, first = (each.contract.authentication.permissions for each in derive(whole.contract).value)
    assert [each.endpoint.text for each in value_of(second) or ()] == ["all others"]
    assert [each.endpoint.text for each in value_of(first) or ()] == ["all others", "GET /old"]


def test_it_is_served_as_the_line_says(tmp_path: Path) -> None:
    plan = loaded(contract("{GET /old: key, all others: anyone}")).plan
    assert plan is not None
    with serving(plan, tmp_path / "notes.db", {}) as client:
        older = {"Api-Version": "2"}
        key = client.post("/users", json={"id": "ann"}).json()["key"]
        assert client.get("/old").status_code == httpx.codes.NOT_FOUND
        assert client.get("/old", headers=older).status_code == httpx.codes.UNAUTHORIZED
        assert client.get("/old", headers={**older, "Authorization": f"Bearer {key}"}).json() == []
        assert client.get("/notes", headers=older).status_code == httpx.codes.OK


def test_it_is_told_as_the_line_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "contract.yaml"
    file.write_text(contract("{GET /old: key, all others: anyone}"), encoding="utf-8")
    assert main(["explain", str(file), "GET /old", "--version", "2", "--all"]) == 0
    assert "the endpoint has a permission line of its own" in capsys.readouterr().out
    assert main(["export", "openapi", str(file), "--version", "2"]) == 0
    paths = json.loads(capsys.readouterr().out)["paths"]
    assert paths["/old"]["get"]["security"] == [{"key": []}]
    assert paths["/notes"]["get"].get("security", []) == []
    assert main(["check", str(file)]) == 0
    assert "nothing is wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("GET /old: key, ", "GET /old: anyone, ", "opens: anyone: true, and was not admitted"),
        ("GET /old: key, ", "GET /old: [key, anyone], ", "opens: anyone: true, and was not admitted"),
        ("GET /old: [key, anyone], ", "GET /old: key, ", "breaking: anyone is not admitted any more (was: true)"),
        ("GET /old: key, ", "GET /old: not shown, ", "opens: who may call `GET /old` (GET /old answers 501)"),
        ("GET /old: key, ", "", "opens: who may call `GET /old` (GET /old answers 501)"),
        ("", "GET /old: key, ", "compatible: `permissions > GET /old` is new"),
    ],
)
def test_diff_says_who_may_call_it(
    old: str, new: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in (("old", old), ("new", new)):
        (tmp_path / f"{name}.yaml").write_text(contract(f"{{{line}all others: anyone}}"), encoding="utf-8")
    main(["diff", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"), "--all"])
    page = capsys.readouterr().out
    assert told in page
    assert new or "admitted" not in page  # nobody is, until it is said who
    assert "GET /notes" not in page


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("{all others: anyone}", "1 endpoint that only an older version has is blocked"),
        ("{GET /notes: anyone}", "1 of 2 endpoints and 1 that only an older version has are blocked"),
        ("{GET /old: anyone, GET /notes: anyone}", "1 of 2 endpoints is blocked"),
        ("{GET /old: anyone, all others: anyone}", ""),
    ],
)
def test_what_is_counted_as_blocked_is_of_the_newest_version_or_said_to_be_older(lines: str, told: str) -> None:
    whole = loaded(contract(lines))
    assert blocked_in_words(whole.open_questions, ("POST /users", "GET /notes")) == told
