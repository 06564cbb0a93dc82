"""What stands between one endpoint and being served."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document
from ninefold.tools.obstacles import Obstacles, endpoint_named, obstacles, to_json, to_text

ORDERS = (Path(__file__).parents[2] / "examples" / "orders.md").read_text(encoding="utf-8")


def found(text: str, endpoint: str, given: tuple[str, ...] = ()) -> Obstacles:
    loaded = compile_document("orders.md", text.encode())
    needed = () if loaded.plan is None else loaded.plan.operator
    missing = [each for each in needed if each.name not in given]
    return obstacles(endpoint, loaded.contract, loaded.open_questions, loaded.checked, missing)


def without(*stretches: str) -> str:
    text = ORDERS
    for stretch in stretches:
        assert stretch in text
        text = text.replace(stretch, "")
    return text


def test_nothing_stands_in_the_way_of_what_is_served() -> None:
    for endpoint in ("POST /orders", "GET /orders/{id}", "POST /customers"):
        assert not found(ORDERS, endpoint)
    text = to_text(found(ORDERS, "POST /orders"), compile_document("a.md", b"").source)
    assert text == "POST /orders: nothing stands between it and being served.\n"


def test_only_what_blocks_the_endpoint_is_told() -> None:
    text = without("  patch: merge\n", "unseen rows: not found\n", "timeout: PT10S\n")
    patch = [each.question.id for each in found(text, "PATCH /orders/{id}").questions]
    assert patch == ["patch", "unseen rows"], "the narrower one first, since both are a word"
    assert [each.question.id for each in found(text, "GET /orders/{id}").questions] == ["unseen rows"]
    assert not found(text, "POST /customers")


def test_short_answers_come_first() -> None:
    text = without("  responses: {200: {data: page.items, next: page.next}}\n", ", unknown parameters: refused")
    told = [each.question.id for each in found(text, "GET /orders").questions]
    assert told == ["unknown parameters", "responses"]


def test_a_whole_part_is_the_longest_answer() -> None:
    start, end = ORDERS.index("## 5."), ORDERS.index("## 6.")
    text = (ORDERS[:start] + ORDERS[end:]).replace("  patch: merge\n", "")
    told = [each.question.id for each in found(text, "PATCH /orders/{id}").questions]
    assert told == ["patch", "schemes"]


def test_what_is_not_in_force_is_told_apart() -> None:
    read = "{does: stream event, responses: {200: stream}}"
    cases = "{does: stream event, cases: {by: request.query.as, all others: {responses: {200: stream}}}, QUERY}"
    assert read in ORDERS
    way = found(ORDERS.replace(read, cases.replace("QUERY", "query: {as: {type: string}}")), "GET /events")
    assert not way.questions and len(way.not_in_force) == 1
    assert way.not_in_force[0].startswith("`cases` of a stream")
    assert not any("not shown" in each for each in found(ORDERS.replace("patch: merge", "patch: not shown"),
                                                         "PATCH /orders/{id}").not_in_force)  # fmt: skip


def test_what_the_operator_has_not_given() -> None:
    text = ORDERS.replace(
        "responses: {200: {data: page.items",
        'where: "order.note == operator.note"\n  responses: {200: {data: page.items',
    )
    assert found(text, "GET /orders").operator == ("note",)
    assert not found(text, "GET /orders", ("note",))
    assert not found(text, "POST /orders")


def test_errors_stand_in_the_way_of_everything() -> None:
    way = found(ORDERS.replace("order.total > 0", "order.totl > 0"), "POST /customers")
    assert way.has_errors and way
    assert "the contract has errors" in to_text(way, compile_document("a.md", b"").source)


@pytest.mark.parametrize("written", ["PATCH /orders/{id}", "patch /orders/{id}", " Patch  /orders/{id} "])
def test_an_endpoint_is_found_however_it_is_written(written: str) -> None:
    assert endpoint_named(compile_document("a.md", ORDERS.encode()).contract, written) == "PATCH /orders/{id}"


@pytest.mark.parametrize("written", ["", "PATCH", "PATCH /orders/{key}", "/orders", "GET /orders/"])
def test_what_is_no_endpoint_is_not_found(written: str) -> None:
    assert endpoint_named(compile_document("a.md", ORDERS.encode()).contract, written) is None


def test_both_forms_have_the_place_and_how_an_answer_is_written() -> None:
    loaded = compile_document("orders.md", ORDERS.replace("patch: merge", "patch: !proposed merge").encode())
    assert loaded.plan is not None, render(loaded.diagnostics, loaded.source)
    way = obstacles("PATCH /orders/{id}", loaded.contract, loaded.open_questions, loaded.checked, ())
    line = next(n for n, text in enumerate(loaded.source.text.splitlines(), 1) if "patch: !proposed" in text)
    assert to_json(way, loaded.source) == {
        "contract": "orders.md",
        "endpoint": "PATCH /orders/{id}",
        "served": False,
        "errors": False,
        "gaps": [
            {
                "part": 4,
                "subject": "PATCH /orders/{id}",
                "question": "how a patch is read by `PATCH /orders/{id}`",
                "line": line,
                "column": 20,
                "keys": ["ENDPOINT.patch"],
                "proposed": True,
            }
        ],
        "not in force": [],
        "operator": [],
    }
    told = to_text(way, loaded.source)
    assert told.startswith("PATCH /orders/{id} is not served: 1 question is open.\n")
    assert f"{line}:20  part 4: how a patch is read by `PATCH /orders/{{id}}` (something is proposed)" in told
    assert "written as `ENDPOINT.patch`: `merge` or `json-patch`" in told
