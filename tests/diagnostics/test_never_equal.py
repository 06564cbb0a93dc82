"""A field that is compared with what it never is: a state, or a value of an `enum`, that is misspelt (NF0542)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ninefold.pipeline import compile_document

ORDINARY = (Path(__file__).parent / "ordinary.yaml").read_text(encoding="utf-8")
KINDS = "kind: {type: string, enum: [plain, urgent]}\n      stars: {type: number, enum: [1, 2.5]}\n      note: {type"
CHECK = "check: {that: IT, else: conflict}, body: [note, total]"
PATCH, TOTAL = "PATCH /orders/{id}: {does: update order, ", "total: {type: integer, minimum: 0}"
PLACES = {
    "a check": (PATCH + "body: [note, total]", PATCH + CHECK),
    "a where": ("sort: [-created_at]", "where: IT, sort: [-created_at]"),
    "a row rule": ("order: {key: order.customer == caller.customer}", "order: {key: IT}"),
    "a computed field": (TOTAL, TOTAL + "\n      is: {type: boolean, computed: IT}"),
    "an invariant": ("  line:\n    primary key", "    check: {that: IT}\n  line:\n    primary key"),
}


def told(written: str, place: str) -> list[tuple[str, str, tuple[str, ...]]]:
    old, new = PLACES[place]
    assert old in ORDINARY
    text = ORDINARY.replace(old, new.replace("IT", '"' + written + '"'), 1).replace("note: {type", KINDS, 1)
    said = compile_document("contract.yaml", text.encode())
    return [
        (each.message, said.source.cut(each.span), each.help) for each in said.diagnostics if each.code.id == "NF0542"
    ]


MISSPELT = [
    ("order.status == 'piad'", "`order.status` is never `piad`", "did you mean `paid`?"),
    ("'piad' != order.status", "`order.status` is never `piad`", "did you mean `paid`?"),
    ("order.status in ['drfat', 'paid']", "`order.status` is never `drfat`", "did you mean `draft`?"),
    ("!(order.status in ['paid', 'drfat'])", "`order.status` is never `drfat`", "did you mean `draft`?"),
    ("order.kind == 'urgnet' || order.status == 'paid'", "`order.kind` is never `urgnet`", "did you mean `urgent`?"),
    ("order.customer.orders.exists(o, o.kind == 'x')", "`order.kind` is never `x`", "there are `plain`, `urgent`"),
    ("order.stars == 3.0", "`order.stars` is never `3.0`", None),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("written", "message", "help"), MISSPELT)
def test_a_comparison_that_never_holds_is_told_at_its_value(
    written: str, message: str, help: str | None, place: str
) -> None:
    ((said, at, advice),) = told(written, place)
    value = message.split("`")[3]
    assert (said, at.strip("'")) == (message, value)
    assert advice == (() if help is None else (help,))


@pytest.mark.parametrize(("written", "message", "_"), MISSPELT)
def test_what_a_field_may_be_is_not(written: str, message: str, _: str | None) -> None:
    right = {"piad": "paid", "drfat": "draft", "urgnet": "urgent", "'x'": "'plain'", "3.0": "1.0"}
    sound = re.sub("|".join(right), lambda found: right[found[0]], written)
    assert sound != written and told(sound, "a check") == []


def test_nor_is_no_value_or_what_lists_no_values() -> None:
    assert told("order.kind == null || order.note == 'x' || order.kind == order.note", "a check") == []
