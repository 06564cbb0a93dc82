"""What `put` is told to do: only the outcomes that its responses name."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.pipeline import compile_document
from ninefold.tools.explain.endpoint import explain_endpoint, find_endpoint
from ninefold.tools.explain.render import to_text

THING = "thing: {primary key: id, fields: {id: {type: integer}, n: {type: integer}}}"


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        (("created", "replaced", "unchanged"), "creates one `thing`, replaces the one that is there, or leaves it"),
        (("created", "replaced"), "creates one `thing`, or replaces the one that is there"),
        (("created", "unchanged"), "creates one `thing`, or compares the one that is there and leaves it"),
        (("created",), "creates one `thing` where there is none"),
        (("replaced",), "replaces one `thing`"),
    ],
)
def test_what_a_put_does_is_told_by_its_outcomes(outcomes: tuple[str, ...], told: str) -> None:
    named = ", ".join(f"{each}: {{{status}: thing}}" for each, status in zip(outcomes, (201, 200, 203), strict=False))
    text = contract(THING, f"PUT /things/{{id}}: {{does: put thing, body: [n], responses: {{{named}}}}}")
    loaded = compile_document("contract.md", text.encode())
    endpoint = find_endpoint(loaded, "PUT /things/{id}")
    assert endpoint is not None
    page = to_text(explain_endpoint(loaded, endpoint))
    assert f" {told}".replace("`", "") in page.replace("`", "").replace("\n", " ")
    others = [each for each in ("or leaves it", "or replaces", "and leaves it") if each not in told]
    assert not [each for each in others if each in page]
