"""Computed fields that read each other: found where they go in a circle, and never followed for ever."""

from __future__ import annotations

from dataclasses import replace

from tests.expressions.shapes import MODEL, ROOTS, problems, well_typed

from ninefold.expressions.reads import computed_cycle, extent, needs_database, references
from ninefold.expressions.scope import Model, Scope
from ninefold.values import Integer


def with_computed(**texts: str) -> Model:
    """The orders' model with further integer fields of an order, computed so."""
    shape = MODEL["order"]
    fields = {**shape.fields, **dict.fromkeys(texts, Integer())}
    open_model = {**MODEL, "order": replace(shape, fields=fields, computed_fields={"total", *texts})}
    typed = {name: well_typed(text, Scope(ROOTS, open_model), Integer()) for name, text in texts.items()}
    return {**open_model, "order": replace(open_model["order"], computed={**shape.computed, **typed})}


def test_a_circle_is_found_in_order() -> None:
    model = with_computed(a="order.b + 1", b="order.total + order.c", c="order.a", d="order.a")
    assert computed_cycle(model) == (("order", "a"), ("order", "b"), ("order", "c"))
    assert computed_cycle(MODEL) == ()


def test_a_circle_is_a_problem_and_no_endless_search() -> None:
    scope = Scope(ROOTS, with_computed(a="order.b", b="order.a"))
    assert [problem.code.id for problem in problems("order.a > 0", scope)] == ["NF0402"]


def test_what_many_computed_fields_read_twice_is_looked_at_once_and_bounded() -> None:
    texts = {f"x{number}": f"order.x{number - 1} + order.x{number - 1}" for number in range(1, 40)}
    model = with_computed(x0="order.total", **texts)
    typed = well_typed("order.x5", Scope(ROOTS, model))
    assert not needs_database(typed, (), model)
    assert extent(typed, model).nodes < 1000
    assert [problem.code.id for problem in problems("order.x39 > 0", Scope(ROOTS, model))] == ["NF0402"]


def test_references() -> None:
    assert references(well_typed("order.customer.orders.exists(o, o.note == 'a')")) == {
        ("order", "customer"),
        ("customer", "orders"),
        ("order", "note"),
    }
