"""Each code is explained by a wrong example, which is told that code, and a right one, which is told no error.

Examples of facts are read beside those of an ordinary contract, `ordinary.yaml`: what both say is the example's.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from textwrap import dedent, indent

import pytest
import yaml
from benchmarks.families import ITEM, contract

from ninefold.diagnostics.codes import CODES
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.explanations import Explanation, explanation
from ninefold.diagnostics.source import Source
from ninefold.pipeline import compile_document
from ninefold.plan.schema import Column, Schema, Table
from ninefold.tools.decisions import document
from ninefold.tools.decisions.decide import decide
from ninefold.values import Text

ORDINARY = Path(__file__).parent / "ordinary.yaml"

DRAWN = {"→": "\t", "<U+0007>": "\a"}
"""What cannot be seen, and how it is drawn in an example."""

BYTES = {"NF0101": b"# caf\xe9\n", "NF0102": b"#" * ((1 << 20) + 1)}
"""Documents in Markdown for wrong examples that are no text, or too much of it."""

TYPES: dict[str, object] = {
    f"t{n}": {"type": "object", "properties": {name: {"$ref": f"#/types/t{n - 1}"} for name in "ab" if n}}
    for n in range(17)
}

LAMPS: dict[str, object] = {
    "resources": {
        f"r{n}": {
            "primary key": "id",
            "fields": {
                "id": {"type": "integer", "on create": "serial()"},
                "state": {"state": True},
                "next": {"references": f"r{max(n - 1, 0)}", "on delete": "restrict"},
            },
        }
        for n in range(9)
    },
    "states": {
        f"r{n}": {
            "initial": "a",
            "states": ["a", "b"],
            "transitions": {
                f"go{n}": {"from": "a", "to": "b"}
                | ({"also": [{"does": f"go{n - 1} r{n - 1}", "where": f"r{n - 1} == this.next"}] * 2} if n else {})
            },
        }
        for n in range(9)
    },
}

MEMBERS = json.dumps({f"m{n}": f"item.n + {n}" for n in range(2000)})
FIELDS = {f"f{n}": {"type": "integer"} for n in range(2000)}

LONG = {
    "NF0118": "limits: {" + "a, " * 600 + "a}",
    "NF0210": "limits: {rates: " + "[" * 70 + "]" * 70 + "}",
    "NF0322": json.dumps({"authentication": {"schemes": {f"k{n}": {"type": "mutualTLS"} for n in range(33)}}}),
    "NF0402": f'endpoints: {{GET /orders/{{id}}: {{check: {{that: "{"(" * 50}order.total{")" * 50} > 0"}}}}}}',
    "NF0643": json.dumps({"resources": {"item": {"primary key": "f0", "fields": FIELDS}}}),
    "NF0644": contract([ITEM], (), [f"  GET /items/{{id}}: {{does: read item, responses: {{200: {MEMBERS}}}}}"]),
    "NF0685": json.dumps({"resources": {"types": TYPES}}),
    "NF0686": json.dumps(LAMPS),
}
"""The wrong examples that are too long to be written out, as they would be."""


def documents(code: str) -> tuple[bytes, bytes]:
    """The wrong and the right example of a code, each as a whole contract."""
    found = explanation(code)
    if found.form != "text":
        return whole(found, found.wrong), whole(found, found.right)
    if code in BYTES:
        return BYTES[code], b"# Orders\n"
    return LONG[code].encode(), b"purpose: Takes orders.\n"


def whole(found: Explanation, example: str) -> bytes:
    for drawn, meant in DRAWN.items():
        example = example.replace(drawn, meant)
    return (example if found.form else beside_ordinary(example)).encode()


def beside_ordinary(example: str) -> str:
    return written(ordinary(), compose(example)).lstrip()


@cache
def ordinary() -> Tree:
    return compose(ORDINARY.read_text(encoding="utf-8"))


Tree = dict[str, "Tree"] | str
"""A mapping by its keys as they are written, or whatever else stands there, as it is written from its colon on."""


def compose(text: str) -> Tree:
    def tree(node: yaml.Node) -> Tree:
        if isinstance(node, yaml.MappingNode) and node.value:
            return {slice_of(key): tree(value) for key, value in node.value}
        if isinstance(node, yaml.SequenceNode) and not node.flow_style:
            return "\n" + dedent(" " * node.start_mark.column + slice_of(node))
        return f" {slice_of(node)}"

    def slice_of(node: yaml.Node) -> str:
        return text[node.start_mark.index : node.end_mark.index].strip()

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    return tree(root)


def written(below: Tree, above: Tree) -> str:
    """Two trees as one document; `above` counts where both say something."""
    if isinstance(above, str):
        return above
    under = below if isinstance(below, dict) else {}
    merged = ((key, written(under.get(key, ""), above.get(key, under.get(key, "")))) for key in {**under, **above})
    return "".join(f"\n{key}:{indent(value, '  ')}" for key, value in merged)


STORED = Schema(
    tuple(
        Table(name, (Column("id", Text(), True), Column(field, Text())), ("id",))
        for name, field in (("customer", "region"), ("order", "note"))
    )
)
WANTED = Schema(
    (STORED.tables[0], Table("order", (Column("id", Text(), True), Column("comment", Text())), ("id",))),
)


def of_an_upgrade(text: str) -> set[str]:
    """What is told of the document of an upgrade, from notes of orders to comments."""
    read = document.read(Source("orders.upgrade.yaml", text))
    told = (*read.diagnostics, *decide(read.value, STORED, WANTED)[1])
    return {each.code.id for each in told}


OF_UPGRADES = sorted(code for code in CODES if explanation(code).form == "upgrade")


@pytest.mark.parametrize("code", OF_UPGRADES)
def test_what_is_wrong_in_an_upgrade_is_told_so(code: str) -> None:
    found = explanation(code)
    assert (of_an_upgrade(found.wrong), of_an_upgrade(found.right)) == ({code}, set())


@pytest.mark.parametrize("code", sorted({*CODES} - {*OF_UPGRADES}))
def test_what_is_wrong_is_told_so_and_what_is_right_is_not(code: str) -> None:
    name = "contract.md" if explanation(code).form == "markdown" or code in BYTES else "contract.yaml"
    wrong, right = (compile_document(name, document).diagnostics for document in documents(code))
    assert code in {each.code.id for each in wrong}
    told = [each for each in right if each.code.id == code or each.code.severity is Severity.ERROR]
    assert [f"{each.code.id}: {each.message}" for each in told] == []


def test_only_what_is_too_long_is_hinted_at() -> None:
    assert {code for code in CODES if explanation(code).form == "text"} == {*BYTES, *LONG}
