"""Who sees no row, or may not call, is told so; and of whom it is not shown, that."""

from __future__ import annotations

import pytest
from tests.contracts import ROOT

from ninefold.pipeline import compile_document
from ninefold.tools.explain.endpoint import explain_endpoint, find_endpoint
from ninefold.tools.explain.render import to_text

ORDERS = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
SEEN = 'order:    {key: "order.customer == caller.customer", staff: true}'
ADMITTED = "GET /orders/{id}:         [key, staff]"


@pytest.mark.parametrize(
    ("written", "instead", "told"),
    [
        (SEEN, SEEN.replace("staff: true", "staff: false"), "a caller known by staff sees no row"),
        (SEEN, SEEN.replace(", staff: true", ""), "which rows a caller known by staff sees is not shown"),
        (SEEN, "", "which rows of order are seen is not shown"),
        (ADMITTED, "GET /orders/{id}: {key: true, staff: false}", "a caller known by staff is refused"),
    ],
)
def test_nobody_is_told_so(written: str, instead: str, told: str) -> None:
    assert written in ORDERS
    loaded = compile_document("orders.md", ORDERS.replace(written, instead).encode())
    endpoint = find_endpoint(loaded, "GET /orders/{id}")
    assert endpoint is not None
    page = to_text(explain_endpoint(loaded, endpoint)).replace("`", "")
    assert told in page and "condition: none" not in page
