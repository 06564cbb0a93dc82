"""What may change under a database that is there, and what may not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ninefold.plan.schema import Column, Index, Reference, Schema, Table
from ninefold.runtime.store.shape import Additions, Differences, Same, compare, decode_shape, encode_shape, shape
from ninefold.values import Array, Integer, Number, Object, Row, Text, Timestamp

CUSTOMER = Table(
    "customer",
    (Column("id", Text(), True), Column("email", Text(), True)),
    ("id",),
    indexes=(Index("customer unique email", ("email",), True),),
)
ORDER = Table(
    "order",
    (
        Column("id", Text(), True),
        Column("customer", Row(resource="customer")),
        Column("lines", Array(items=Object(members={"sku": Text()})), True),
        Column("note", Text(nullable=True)),
        Column("created_at", Timestamp()),
    ),
    ("id",),
    (Reference("customer", "customer", "id"),),
    (Index("order by created_at", ("-created_at", "id")),),
)
STORED = Schema((CUSTOMER, ORDER))


def with_order(**changes: Any) -> Schema:
    return Schema((CUSTOMER, msgspec.structs.replace(ORDER, **changes)))


def with_column(column: Column) -> Schema:
    return with_order(columns=tuple(column if was.name == column.name else was for was in ORDER.columns))


def test_a_shape_survives_being_stored() -> None:
    assert decode_shape(encode_shape(STORED)) == shape(STORED)


@pytest.mark.parametrize(
    "wanted",
    [
        STORED,
        Schema((ORDER, CUSTOMER)),
        with_order(columns=tuple(reversed(ORDER.columns))),
        with_column(Column("note", Text())),
        with_column(Column("lines", Array(items=Integer()), True)),
    ],
    ids=["the same", "resources in another order", "fields in another order", "nullable", "inside an array"],
)
def test_what_is_no_part_of_the_shape_may_change(wanted: Schema) -> None:
    assert compare(shape(STORED), wanted) == Same()


def test_an_index_for_speed_comes_and_goes_without_words() -> None:
    assert compare(STORED, with_order(indexes=())) == Same(drop=('DROP INDEX "order by created_at"',))
    assert compare(with_order(indexes=()), STORED) == Same(
        create=('CREATE INDEX "order by created_at" ON "order" ("created_at" DESC, "id")',)
    )


def test_a_unique_index_goes_that_only_copies_the_key_or_another() -> None:
    two, turned = Index("u", ("note", "created_at"), True), Index("v", ("created_at", "note"), True)
    assert compare(with_order(indexes=(two, turned)), with_order(indexes=(two,))) == Same(drop=('DROP INDEX "v"',))
    assert compare(with_order(indexes=(two,)), with_order(indexes=(turned,))) == Same()
    copy = Index("w", ("id",), True)
    assert compare(with_order(indexes=(copy,)), with_order(indexes=())) == Same(drop=('DROP INDEX "w"',))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Schema((*STORED.tables, Table("tag", (Column("id", Text(), True),), ("id",)))), "resource `tag`"),
        (with_order(columns=(*ORDER.columns, Column("priority", Integer()))), "field `order.priority`"),
        (with_order(indexes=(*ORDER.indexes, Index("u", ("note",), True))), "unique `note` of `order`"),
    ],
)
def test_an_addition(wanted: Schema, words: str) -> None:
    comparison = compare(STORED, wanted)
    assert isinstance(comparison, Additions)
    assert [addition.words for addition in comparison.additions] == [words]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Schema((CUSTOMER,)), "resource `order` is stored, and the contract no longer has it"),
        (
            with_order(columns=ORDER.columns[:-1]),
            "field `order.created_at` is stored, and the contract no longer has it",
        ),
        (with_column(Column("note", Number())), "field `order.note` is stored as a string, and is now a number"),
        (with_column(Column("note", Text(), True)), "field `order.note` is stored as optional, and is now required"),
        (
            with_order(columns=(*ORDER.columns, Column("priority", Integer(), True))),
            "field `order.priority` is new and required, and the rows there are have no value for it",
        ),
        (with_order(key=("id", "note")), "the identifier of `order` is stored as `id`, and is now `id` and `note`"),
        (
            with_order(references=(Reference("customer", "customer", "id", "cascade"),)),
            "field `order.customer` is stored with `on delete: restrict`, and has now `cascade`",
        ),
        (
            Schema((msgspec.structs.replace(CUSTOMER, indexes=()), ORDER)),
            "`email` of `customer` is stored as unique, and is no longer",
        ),
    ],
)
def test_a_difference(wanted: Schema, words: str) -> None:
    assert compare(STORED, wanted) == Differences((words,))


def test_a_broker_that_comes_later_begins_where_the_log_is() -> None:
    stored = msgspec.structs.replace(STORED, events=True)
    comparison = compare(stored, msgspec.structs.replace(stored, broker="nats"))
    assert isinstance(comparison, Additions)
    assert [addition.words for addition in comparison.additions] == ["what is sent to a broker"]


def test_deliveries_to_subscriptions_do_not_become_deliveries_to_rows() -> None:
    stored = msgspec.structs.replace(STORED, events=True, subscriptions=True)
    to_rows = msgspec.structs.replace(stored, subscribers=("customer", "id"))
    words = "deliveries are stored to rows of `subscription`, and go to rows of `customer` now"
    assert compare(stored, to_rows) == Differences((words,))
    assert compare(to_rows, to_rows) == Same()


def test_all_differences_are_told_and_additions_are_not_made_beside_them() -> None:
    wanted = with_order(columns=(Column("id", Integer(), True), Column("customer", Text()), Column("extra", Text())))
    comparison = compare(STORED, wanted)
    assert isinstance(comparison, Differences)
    assert len(comparison.words) == 5
