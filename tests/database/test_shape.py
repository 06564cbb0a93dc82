"""What may change under a database that is there: without a word, with one, and not without a decision."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ninefold.plan.schema import Aside, Column, Index, Reference, Schema, Table
from ninefold.upgrade import steps
from ninefold.upgrade.changes import changes
from ninefold.upgrade.shape import decode_shape, encode_shape, shape
from ninefold.upgrade.words import sentence
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


def without_column(name: str) -> Schema:
    return with_order(columns=tuple(each for each in ORDER.columns if each.name != name))


def test_a_shape_survives_being_stored() -> None:
    after = changes(STORED, without_column("note")).after
    assert decode_shape(encode_shape(STORED)) == shape(STORED)
    assert decode_shape(encode_shape(after)) == after
    assert after.tables[1].aside == (Aside(Column("note", Text()), "$aside note"),)


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
    assert changes(shape(STORED), wanted).same


def test_an_index_for_speed_comes_and_goes_without_words() -> None:
    index = ORDER.indexes[0]
    gone, there = changes(STORED, with_order(indexes=())), changes(with_order(indexes=()), STORED)
    assert (gone.changes, gone.steps) == ((), (steps.DropIndex(index),))
    assert (there.changes, there.steps) == ((), (steps.MakeIndex("order", index),))


def test_a_unique_index_goes_that_only_copies_the_key_or_another() -> None:
    two, turned = Index("u", ("note", "created_at"), True), Index("v", ("created_at", "note"), True)
    assert changes(with_order(indexes=(two, turned)), with_order(indexes=(two,))).steps == (steps.DropIndex(turned),)
    assert changes(with_order(indexes=(two,)), with_order(indexes=(turned,))).same
    copy = Index("w", ("id",), True)
    assert changes(with_order(indexes=(copy,)), with_order(indexes=())).steps == (steps.DropIndex(copy),)


TAG = Table("tag", (Column("id", Text(), True),), ("id",))
NOTES = with_order(indexes=(*ORDER.indexes, Index("u", ("note",), True)))
NO_UNIQUE = Schema((msgspec.structs.replace(CUSTOMER, indexes=()), ORDER))


@pytest.mark.parametrize(
    ("wanted", "kind", "by", "words"),
    [
        (Schema((*STORED.tables, TAG)), "automatic", "serve", "resource `tag`, new"),
        (
            with_order(columns=(*ORDER.columns, Column("priority", Integer()))),
            "automatic", "serve", "field `order.priority`, new, optional",
        ),
        (
            with_order(columns=(*ORDER.columns, Column("priority", Integer(), True))),
            "automatic", "serve", "field `order.priority`, new, required",
        ),
        (NOTES, "automatic", "serve", "unique `note` of `order`, new"),
        (NO_UNIQUE, "automatic", "serve", "unique `email` of `customer`, no longer"),
        (Schema((CUSTOMER,)), "aside", "serve", "resource `order`, its rows stay, hidden"),
        (Schema((CUSTOMER, TAG)), "aside", "upgrade", "resource `order`, its rows stay, hidden"),
        (without_column("created_at"), "aside", "serve", "field `order.created_at`, its values stay, hidden"),
        (
            with_column(Column("note", Number())),
            "automatic", "upgrade", "field `order.note`, was a string and is a number",
        ),
        (with_column(Column("note", Text(), True)), "automatic", "serve", "field `order.note`, required now"),
        (
            with_column(Column("lines", Array(items=Object(members={"sku": Text()})))),
            "automatic", "serve", "field `order.lines`, no longer required",
        ),
        (
            with_order(key=("id", "note")),
            "automatic", "upgrade", "the primary key of `order`, was `id` and is `id` and `note`",
        ),
        (
            with_order(references=(Reference("customer", "customer", "id", "cascade"),)),
            "automatic", "serve",
            "field `order.customer`, `on delete: cascade` instead of `restrict`",
        ),
    ],
)  # fmt: skip
def test_a_change(wanted: Schema, kind: str, by: str, words: str) -> None:
    assert (kind, by, words) in [(each.kind, each.by, sentence(each)) for each in changes(STORED, wanted).changes]


def test_a_field_that_may_have_another_name_is_asked_for() -> None:
    columns = tuple(Column("remark", Text()) if each.name == "note" else each for each in ORDER.columns)
    asked, added = changes(STORED, with_order(columns=columns)).changes
    assert asked.kind == "question"
    assert asked.write == (
        "{rename: order.note, to: order.remark}",
        "{aside: order.note}",
        "{set: order.remark, is: …, where: has(old.note)}",
    )
    assert sentence(added) == "field `order.remark`, new, optional"


def test_a_broker_that_comes_later_begins_where_the_log_is() -> None:
    stored = msgspec.structs.replace(STORED, events=True)
    [change] = changes(stored, msgspec.structs.replace(stored, broker="nats")).changes
    assert change.about == "what is sent to a broker"


def test_deliveries_to_subscriptions_do_not_become_deliveries_to_rows() -> None:
    stored = msgspec.structs.replace(STORED, events=True, subscriptions=True)
    to_rows = msgspec.structs.replace(stored, subscribers=("customer", "id"))
    [change] = changes(stored, to_rows).changes
    assert change.kind == "question"
    assert changes(to_rows, to_rows).same
