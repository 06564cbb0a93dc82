"""Nine parts at a glance, and what is open, in both forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ninefold.contract.questions.ask import ask
from ninefold.contract.resolve.contract import resolve
from ninefold.contract.service import Contract
from ninefold.syntax.nodes import PARTS
from ninefold.syntax.parser import Form, parse, read
from ninefold.tools.gaps import WIDTH, parts_at_a_glance, to_json, to_text

ORDERS = (Path(__file__).parents[2] / "examples" / "orders.md").read_text(encoding="utf-8")


def contract_of(text: str, accept: bool = False) -> Contract:
    document = parse(read("contract.md", text.encode()).value, Form.LITERATE).value
    return resolve(document, accept).value


def answers(text: str, accept: bool = False) -> dict[str, str]:
    contract = contract_of(text, accept)
    return {part.name: part.answer for part in parts_at_a_glance(contract, ask(contract))}


def test_a_whole_contract_is_complete() -> None:
    contract = contract_of(ORDERS)
    found = to_json(contract, ask(contract))
    assert found["contract"] == "contract.md"
    assert found["complete"] is True
    assert found["gaps"] == []
    assert [(part["number"], part["name"], part["answer"]) for part in found["parts"]] == [
        (number, name, "shown") for number, name in enumerate(PARTS, 1)
    ]
    assert to_text(contract, ()).rstrip().endswith("Complete: every question that is asked has its answer.")


def test_a_gap_in_json_has_its_place_and_what_it_blocks() -> None:
    contract = contract_of(ORDERS.replace("patch: merge", "patch: not shown"))
    found = to_json(contract, ask(contract))
    assert found["complete"] is False
    line = next(n for n, text in enumerate(contract.document.source.text.splitlines(), 1) if "patch: not" in text)
    assert found["gaps"] == [
        {
            "part": 4,
            "subject": "PATCH /orders/{id}",
            "question": "how a patch is read by `PATCH /orders/{id}`",
            "line": line,
            "column": 10,
            "effect": "blocks",
            "blocks": ["PATCH /orders/{id}"],
        }
    ]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("part", "answer"),
    [
        ("It: none.", "none"),
        ("It: not shown.", "not shown"),
        ("", "not shown"),
        ("<!-- It has limits. -->", "not shown"),
        ("It has limits, of which more later.", "prose only"),
        ("It has limits.\n\nThe limits: not shown.", "not shown"),
        ("```yaml\nrates: none\n```", "partly"),
        ("```yaml\nrates: not shown\n```", "partly"),
        ("```yaml proposed\nrates: none\n```", "proposed"),
        ("```yaml\nrates: !proposed none\ntimeout: none\n```", "proposed"),
        ("```yaml\nrates: none\ntimeout: none\n```", "shown"),
    ],
)
def test_how_a_part_answers(part: str, answer: str) -> None:
    assert answers(f"# T\n\n## 8. Limits\n\n{part}\n")["limits"] == answer


def test_a_proposal_that_is_accepted_is_told() -> None:
    text = "# T\n\n## 8. Limits\n\n```yaml\nrates: !proposed none\ntimeout: none\n```\n"
    assert answers(text, accept=True)["limits"] == "proposed"


def test_the_prose_of_part_1_is_its_answer() -> None:
    assert answers("# T\n\n## 1\n\nKeeps notes.\n")["purpose"] == "shown"
    assert answers("# T\n\n## 1\n\nThe purpose: not shown.\n")["purpose"] == "not shown"
    assert answers("# T\n")["purpose"] == "not shown"


def test_prose_alone_is_told_with_its_lines() -> None:
    contract = contract_of("# T\n\n## 6. Events\n\nEvents are sent.\n\nThey are sent\ntwice.\n")
    assert f"  6  {'Events':26}  prose only, lines 5 to 8\n" in to_text(contract, ask(contract))


def test_the_text_tells_what_blocks_first_and_what_silence_costs() -> None:
    text = ORDERS.replace("patch: merge", "patch: !proposed merge").replace("timeout: PT10S\n", "")
    contract = contract_of(text)
    told = to_text(contract, reversed(ask(contract)))
    assert told.index("What blocks") < told.index("What leaves something out")
    assert "part 4: how a patch is read by `PATCH /orders/{id}` (something is proposed)" in told
    assert "\n           blocks PATCH /orders/{id}\n" in told
    assert "leaves out timeouts: no request is given up" in told
    assert told.rstrip().endswith("1 of 13 endpoints is blocked.")


def test_the_text_keeps_to_its_width() -> None:
    contract = contract_of(ORDERS.replace("unseen rows: not found\n", "").replace("  codes:\n", "  codes: not shown\n"))
    assert max(map(len, to_text(contract, ask(contract)).splitlines())) <= WIDTH


def test_a_backslash_in_a_name_is_only_a_character() -> None:
    contract = contract_of('# T\n\n## 2\n\n```yaml\n"a\\\\u1":\n  fields: {x: {type: string}}\n```\n')
    assert "`a\\u1`" in to_text(contract, ask(contract))


LENT = """
## 2. Resources

```yaml
court:   {{primary key: name, fields: {{name: {{type: string}}}}}}
player:  {{primary key: id, fields: {{id: {{type: integer, on create: serial()}}}}}}
booking: {{primary key: id, fields: {{id: {{type: integer, on create: serial()}}, of: {field}}}}}
```

## 4. Endpoints

```yaml
DELETE /courts/{{name}}: {{does: delete court, responses: {{204: none}}}}
GET /players/{{id}}: {{does: read player, responses: {{200: player}}}}
```
"""


@pytest.mark.parametrize(
    ("field", "waits"),
    [
        ("{references: not shown, on delete: restrict}", True),
        ("{references: not shown, on delete: cascade}", True),
        ("{references: !proposed court, on delete: restrict}", True),
        ("{references: !proposed player, on delete: restrict}", False),
        # Nothing is said of a deletion that could be passed over.
        ("{references: not shown}", False),
        ("not shown", False),
    ],
)
def test_what_is_said_of_a_deletion_is_passed_over_by_none(field: str, waits: bool) -> None:
    contract = contract_of(LENT.format(field=field))
    (gap,) = (each for each in to_json(contract, ask(contract))["gaps"] if "booking.of" in each["question"])
    assert ("DELETE /courts/{name}" in gap["blocks"]) is waits
    assert "GET /players/{id}" not in gap["blocks"]
