"""What reads, of a row that is made, a number which `serial()` is still to give. Of checks of `create`, `check` warns
of those that refuse always, or every row but the first; and it is so when the service runs. Values are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import running
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

CONTRACT = (
    """# Notes

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
note:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    text:  {type: string}
    twice: {type: integer, computed: note.id * 2}
    size:  {type: integer, computed: note.text.size()}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /checked: {does: create note, body: [text], check: {that: "true", else: refused}, responses: {201: none}}
POST /free:    {does: create note, body: [text], responses: {201: none}}
```

## 5. Authentication

```yaml
schemes: none
permissions: {POST /checked: {anyone: "has(note.text)"}, all others: anyone}
rows: all
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  refused:   {status: 409}
  invalid:   {status: 422, for: invalid}
  forbidden: {status: 403, for: forbidden}
```
"""
    + LIMITS_AND_VERSIONS
)

ALWAYS = "a check of `POST /checked` never holds"
BUT_THE_FIRST = "a check of `POST /checked` holds of the first row alone"

CHECKS = {
    "note.id > 0": ALWAYS,
    "!(note.id > 0)": ALWAYS,
    "has(note.id)": ALWAYS,
    "!has(note.id)": ALWAYS,
    "note.id == null": ALWAYS,
    "note.twice > 0 && note.text == 'x'": ALWAYS,
    "[note.id].size() == 1": ALWAYS,
    "note.text == 'x' ? note.id > 0 : note.twice > 0": ALWAYS,
    "all(note).exists(n, n.text == note.text && n.id != note.id)": ALWAYS,
    "!all(note).exists(n, n != note)": BUT_THE_FIRST,
    "all(note).all(n, n == note)": BUT_THE_FIRST,
    "all(note).filter(n, n != note).size() == 0": BUT_THE_FIRST,
    "note.id > 0 || note.text == 'x'": None,
    "note.text == 'x' ? true : note.id > 1": None,
    "!all(note).exists(n, n.text == note.text + '?' && n.id != note.id)": None,
    "all(note).size() >= 0 && note.size == 1": None,
}


def warned(text: str) -> list[str]:
    told = compile_document("contract.md", text.encode()).diagnostics
    assert not [each for each in told if each.code.severity.value == "error"], told
    return [each.message for each in told if each.code.id == "NF0800"]


@pytest.mark.serves
@pytest.mark.parametrize("check", CHECKS)
def test_what_is_warned_of_is_what_happens(check: str, tmp_path: Path) -> None:
    text, expected = CONTRACT.replace('"true"', f'"{check}"'), CHECKS[check]
    assert warned(text) == ([] if expected is None else [expected])
    with running(tmp_path / "service.db", text) as service:

        def answers() -> list[int]:
            return [service.http.post("/checked", json={"text": each}).status_code for each in ("x", "y")]

        first = answers()
        assert service.http.post("/free", json={"text": "x"}).status_code == 201
        then = answers()
    assert (201 not in first) == (expected == ALWAYS)
    assert (201 in then) == (expected is None)


def test_so_it_is_of_permissions() -> None:
    text = CONTRACT.replace('"has(note.text)"', '"note.id > 0"')
    assert warned(text) == ["the permission of `anyone` of `POST /checked` never holds"]


def test_what_a_resource_asks_is_asked_of_a_row_that_has_its_number() -> None:
    assert (
        warned(
            CONTRACT.replace("  primary key: id\n", "  primary key: id\n  check: {that: note.id > 0, else: refused}\n")
        )
        == []
    )


AFTER = "  text:  {type: string}\n"
MADE = "'n' + string(note.id)"
VALUES = {
    "on create": (AFTER, AFTER + f'    code:  {{type: string, on create: "{MADE}"}}\n'),
    "as it is": (AFTER, AFTER + "    code:  {type: integer, on create: note.id}\n"),
    "at every write": (AFTER, AFTER + f'    code:  {{type: string, on change: "{MADE}"}}\n'),
    "at some writes": (AFTER, AFTER + f'    code:  {{type: string, on change: {{text: "{MADE}"}}}}\n'),
    "through what is computed": (AFTER, AFTER + "    code:  {type: integer, on create: note.twice + 1}\n"),
    "in some cases": (AFTER, AFTER + f"    code:  {{type: string, on create: \"note.text == 'x' ? {MADE} : 'y'\"}}\n"),
    "sets": ("body: [text], responses", f'body: [text], sets: {{text: "{MADE}"}}, responses'),
    "an effect": (
        "body: [text], responses",
        f'body: [text], also: [{{does: create note, sets: {{text: "{MADE}"}}}}], responses',
    ),
}


@pytest.mark.parametrize("way", VALUES)
def test_no_value_is_made_of_it(way: str) -> None:
    """It would be no value in silence, or refuse every row."""
    told = compile_document("contract.md", CONTRACT.replace(*VALUES[way], 1).encode()).diagnostics
    assert [each.code.id for each in told if each.code.severity.value == "error"] == ["NF0868"], told


def test_what_others_have_may_be_read() -> None:
    """The greatest number that there is, and one that `this` has already."""
    text = CONTRACT.replace(AFTER, AFTER + "    next:  {type: integer, on create: all(note).size() + 1}\n")
    text = text.replace(
        "body: [text], responses",
        "body: [text], also: [{does: create note, sets: {text: \"'after ' + string(this.id)\"}}], responses",
    )
    told = compile_document("contract.md", text.encode()).diagnostics
    assert not [each for each in told if each.code.severity.value == "error"], told
