"""What a database or its user has for settings changes nothing of what a service answers: where a session cannot have
its own, behind a pooler, one that would is refused, and so is one with which nothing can be served."""

from __future__ import annotations

from typing import Final

import pytest
from tests.contracts import SERVED, compiled
from tests.postgresql import server
from tests.postgresql.alike import told
from tests.postgresql.nodes import CONTRACT
from tests.postgresql.test_pooled import pooled

from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Refused

ROUNDS: Final = "extra_float_digits = -15"
OTHERWISE: Final = (
    ROUNDS,
    "DateStyle = 'SQL, DMY'",
    "IntervalStyle = 'postgres_verbose'",
    "TimeZone = 'Asia/Kolkata'",
    "array_nulls = off",
    "backslash_quote = on",
    "bytea_output = 'escape'",
    "default_transaction_deferrable = on",
    "default_transaction_isolation = 'serializable'",
    "default_transaction_read_only = on",
    "plan_cache_mode = 'force_generic_plan'",
    "plpgsql.variable_conflict = 'use_column'",
    "quote_all_identifiers = on",
    "standard_conforming_strings = off",
    "transform_null_equals = on",
    "xmloption = 'document'",
)
CASES: Final = ("shelves-that-show-their-items", "an-invariant-of-a-change")


def settled(url: str, *settings: str) -> str:
    name = url.partition("?")[0].rpartition("/")[2]
    server.run(url, *(f"ALTER DATABASE {name} SET {each}" for each in settings))
    return url


@pytest.mark.parametrize("case", CASES)
def test_no_setting_changes_what_is_answered(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = server.database
    monkeypatch.setattr(server, "database", lambda: settled(made(), *OTHERWISE))
    (directory,) = (each for each in SERVED if each.name == case)
    beside = told(directory, 0)
    assert beside.told and not beside.differences, "\n".join(beside.differences)


def test_behind_a_pooler_one_that_rounds_numbers_is_refused() -> None:
    url, plan = settled(server.database(), ROUNDS), compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    with pooled("pooler", url) as behind:
        opened = open_database(behind, plan, pooled=True)
    assert isinstance(opened, Refused) and "extra_float_digits" in opened.message


def test_where_no_schema_is_to_be_found_that_is_said() -> None:
    url, plan = server.database(), compiled(CONTRACT).plan_for("postgresql")
    server.run(url, "DROP SCHEMA public")
    assert plan is not None
    opened = open_database(url, plan)
    assert isinstance(opened, Refused)
    assert opened.message.endswith("cannot be used: its search_path names no schema that is there")
