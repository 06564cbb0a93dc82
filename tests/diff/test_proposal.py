"""What `diff --propose` writes leads back to the older contract: derived again, piece by piece as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.contracts import ROOT, SERVED, compiled, compiled_once, contract_of
from tests.slices import LONG, some

from ninefold.cli import main
from ninefold.diff.older import again, proposal
from ninefold.diff.sight import differing, sight
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded

ORDERS = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
PAIRS = ROOT / "tests" / "versions" / "pairs"
VERSIONED = [
    path
    for path in (*sorted({contract_of(each) for each in SERVED}), *sorted(PAIRS.glob("*/newer.md")))
    if "\nversions:" in path.read_text(encoding="utf-8")
]


@pytest.mark.long
@pytest.mark.parametrize("path", some(VERSIONED, 16), ids=lambda path: path.parent.name)
def test_the_changes_of_a_version_are_found_again(path: Path) -> None:
    for older in compiled(path).older:
        found = again(compiled(path), older.version)
        assert [(at, found.old.get(at), found.derived.get(at)) for at in found.left] == [], older.version


def loaded(text: str) -> Loaded:
    found = compiled_once("contract.md", text.encode())
    assert found.plan is not None, found.diagnostics
    return found


@pytest.mark.long
@pytest.mark.parametrize("pair", ["shelf", "accounts", "notes"] if LONG else ["notes"])
def test_what_is_proposed_is_derived_and_compared(pair: str) -> None:
    """By a way of its own: the proposal as a version of the document's text, beside the older document."""
    old, new = (loaded((PAIRS / pair / f"{name}.md").read_text(encoding="utf-8")) for name in ("older", "newer"))
    found = proposal(old, new)
    was, derived = sight(old.contract), found.kept.derived
    assert set(found.kept.left) <= {*differing(was, derived)}
    assert len(found.kept.left) < len(differing(was, sight(new.contract))) / 4
    assert bool(found.kept.left) == (pair == "shelf")


EDITS: dict[str, tuple[list[tuple[str, str]], list[str], list[str]]] = {
    "a field has another name": (
        [("    name:       {type: string, minLength", "    called:     {type: string, minLength"),
         ("required: [email, name]", "required: [email, called]"), ("body: [email, name]", "body: [email, called]"),
         ("name: customer.name", "called: customer.called")],
        ["{rename: customer.called, to: name}"], [],
    ),
    "a member of one response": (
        [("email: customer.email, name: customer.name", "email: customer.email, person: customer.name")],
        ['{change: POST /customers, was: {responses: {201: {id: customer.id, email: customer.email, '
         'name: customer.name, api_key: issued.api_key}}}}'], [],
    ),
    "a field more": (
        [("    status:     {state: true}", "    status:     {state: true}\n    region:     {type: string}")],
        ["{remove: order.region}"], [],
    ),
    "an endpoint elsewhere": (
        [("POST /orders/{id}/cancel", "POST /orders/{id}/end")],
        ['{rename: "POST /orders/{id}/end", to: "POST /orders/{id}/cancel"}'], [],
    ),
    "a wider schema": (
        [("maxLength: 500", "maxLength: 600")],
        ['{change: order.note, was: {type: [string, "null"], maxLength: 500}}'], ["look"],
    ),
    "another code": (
        [("wrong_state", "not_now")], ["{rename: not_now, to: wrong_state}"], [],
    ),
    "another status": (
        [("  responses: {201: {id: customer.id", "  responses: {200: {id: customer.id")],
        ["{change: POST /customers, was: {responses: {201: "], [],
    ),
    "a state less to go from": ([("from: [draft, placed]", "from: draft")], [], ["breaking"]),
    "a permission": ([("POST /orders/{id}/cancel: [key, staff]", "POST /orders/{id}/cancel: key")], [], ["breaking"]),
    "a limit": ([("body size: 64 KiB", "body size: 32 KiB")], [], ["breaking"]),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", some(list(EDITS), 12))
def test_an_ordinary_change_is_kept_as_far_as_part_9_can(why: str) -> None:
    edits, changes, unkept = EDITS[why]
    text = ORDERS
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    found = proposal(loaded(ORDERS), loaded(text))
    said = [each.written() for each in found.kept.steps]
    assert len(said) == len(changes) and all(one.startswith(other) for one, other in zip(said, changes, strict=True))
    assert [each.verdict for each in found.unkept] == unkept, found.unkept


def test_it_is_told_as_yaml_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = Path("old.md"), Path("new.md")
    old.write_text(ORDERS, encoding="utf-8")
    new.write_text(ORDERS.replace("wrong_state", "not_now").replace("from: [draft, placed]", "from: draft"), "utf-8")
    assert main(["diff", str(old), str(new), "--propose"]) == 1
    told = capsys.readouterr().out
    assert "      - {rename: not_now, to: wrong_state}\n" in told
    assert "# breaking: `order > transitions > cancel > from > placed` is gone\n" in told
    assert f"#   was {old}:56:28   cancel: {{from: [draft, placed]" in told
    assert main(["diff", str(old), str(new), "--propose", "--format", "json", "--fail-on", "never"]) == 0
    (found,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert found["changes"] == [{"rename": "not_now", "to": "wrong_state", "note": ""}]
    assert found["cannot_be_kept"][0]["old"]["line"] == 56
    assert main(["diff", str(old), str(new), "--propose", "--format", "sarif"]) == 2


@pytest.mark.parametrize(
    ("line", "kept", "told"),
    [
        ("  DELETE /orders/{id}:      key\n", "", '  "DELETE /orders/{id}": key\n'),
        ("", "", '  "DELETE /orders/{id}": staff\n'),
        ("  DELETE /orders/{id}:      key\n", "  DELETE /orders/{id}:      key\n", ""),
    ],
)
def test_who_may_call_an_endpoint_that_is_gone_is_proposed_as_a_line_of_part_5(
    line: str, kept: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stated = "  DELETE /orders/{id}:      key\n"
    endpoint = ORDERS[ORDERS.index("DELETE /orders/{id}:\n") :].partition("\nP")[0] + "\n"
    old, new = ORDERS.replace(stated, line), ORDERS.replace(endpoint, "").replace(stated, kept)
    if "DELETE" in kept:
        added = '      - {add: "DELETE /orders/{id}", was: {does: delete order, responses: {204: none}}}\n'
        new = new.replace("    changes:\n", f"    changes:\n{added}")
    for name, text in (("old.md", old), ("new.md", new)):
        Path(name).write_text(text, encoding="utf-8")
    main(["diff", "old.md", "new.md", "--propose"])
    page = capsys.readouterr().out
    assert '{add: "DELETE /orders/{id}", was: {does: delete order' in page
    assert told in page
    assert ("# for part 5 of new.md\npermissions:\n" in page) == bool(told)


def written(older: str, newer: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The newer document, once what is proposed is written into it."""
    old, new = Path("old.md"), Path("new.md")
    old.write_text(older, encoding="utf-8")
    new.write_text(newer, encoding="utf-8")
    main(["diff", str(old), str(new), "--propose", "--write"])
    told = capsys.readouterr()
    assert f"{new} is written" in told.out, told
    return new.read_text(encoding="utf-8")


WRITTEN = {
    "block": 'versions:\n  "3": {}   # today\n  "2026-06-01": {}\n',
    "flow": 'versions: {"3": {}, "2026-06-01": {changes: none}}\n',
    "beside": 'versions:\n  "3": {}\n  "2026-06-01":\n    deprecated: "2027-01-01"\n',
    "inside": 'versions: {"3": {}, "2026-06-01": {deprecated: "2027-01-01"}}\n',
    "absent": 'versions:\n  "3": {}   # today\n',
    "absent in a flow": 'versions: {"3": {}}\n',
    "said before": 'versions:\n  "3": {}\n  "2026-06-01":\n    changes:\n      - {remove: order.updated_at}\n',
}


@pytest.mark.parametrize("layout", WRITTEN)
def test_it_is_written_in_its_place(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The older version of the document that is written is the older document."""
    begin, end = ORDERS.index("versions:\n"), ORDERS.index("compatible:")
    stem = f"{ORDERS[:begin]}VERSIONS{ORDERS[end:]}".replace('default: "2026-06-01"', "DEFAULT")
    assert "DEFAULT" in stem
    older = stem.replace("VERSIONS", 'versions: {"2026-06-01": {}}\n').replace("DEFAULT", 'default: "2026-06-01"')
    newer = stem.replace("VERSIONS", WRITTEN[layout]).replace("DEFAULT", 'default: "3"')
    newer = newer.replace("wrong_state", "not_now").replace("maxLength: 500", "maxLength: 600")
    text = written(older, newer, capsys)
    assert ("# today" in text) == ("# today" in newer) and text[:begin] == newer[:begin]
    derived = loaded(text).of("2026-06-01")
    assert derived is not None
    left = differing(sight(loaded(older).contract), sight(derived.contract))
    assert {at[1:4] for at in left} <= {("order", "fields", "note")}


PART_9 = {
    "said to be none": "## 9. Versioning\n\nThere is one version: none.\n",
    "left open": "## 9. Versioning\n\nVersions: not shown.\n\nNobody has asked.\n",
    "empty": "## 9. Versioning\n",
    "absent": "",
}


@pytest.mark.parametrize("part", PART_9)
def test_part_9_is_written_where_there_is_none(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    """How a request names its version is as the older contract says; where it does not, that is asked."""
    begin = ORDERS.index("## 9. Versioning")
    newer = f"{ORDERS[:begin]}{PART_9[part]}".replace("wrong_state", "not_now")
    stated = f"""{PART_9["empty"]}
```yaml
in: header
name: Api-Version
versions: {{"2026-06-01": {{}}}}
default: "2026-06-01"
compatible: [add an endpoint]
```
"""
    for old_part, names in ((stated, "2026-06-01"), (PART_9["said to be none"], "1")):
        text = written(ORDERS[:begin] + old_part, newer, capsys)
        kept = newer if part == "absent" else newer[: newer.index("## 9")]
        assert text.startswith(kept) and ("Nobody has asked." in text) == (part == "left open")
        found = loaded(text)
        assert [each.name for each in value_of(found.contract.versioning.versions) or ()] == ["next", names]
        assert {each.question.part for each in found.open_questions} == (set() if old_part == stated else {9})


def test_what_has_no_place_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = Path("old.md"), Path("new.md")
    old.write_text(ORDERS, encoding="utf-8")
    new.write_text(ORDERS.replace("wrong_state", "not_now"), encoding="utf-8")
    before = new.read_bytes()
    assert main(["diff", str(old), str(new), "--propose", "--write"]) == 2
    told = capsys.readouterr()
    assert "{rename: not_now, to: wrong_state}" in told.out and "give it a name of its own" in told.err
    assert new.read_bytes() == before
