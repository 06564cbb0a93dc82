"""The same expression in SQL and in Python has the same value, whatever the rows hold."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from tests.laws.databases import EACH, asked
from tests.laws.worlds import CALLS, MODEL, SCOPE, Loaded, World, expressions, typed_of, worlds
from tests.postgresql import server
from tests.slices import examples

from ninefold.expressions.evaluate import ROWS, EvaluationError, compile
from ninefold.expressions.functions import TABLE
from ninefold.expressions.tree import Select, Typed, rewrite
from ninefold.sql.dialect import Dialect
from ninefold.sql.expressions import sql_problem, to_sql
from ninefold.sql.operators import is_in_sql
from ninefold.values import Row
from ninefold.values.stored import from_sqlite

ERROR = object()
RELAXED = settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def in_python(typed: Typed, env: dict[str, Any]) -> Any:
    """The value, with rows as their identifiers; `ERROR` for what CEL calls one."""
    try:
        return plain(compile(rewrite(typed, of_loaded), MODEL)(env))
    except EvaluationError:
        return ERROR


def of_loaded(node: Typed) -> Typed | None:
    """`item.ref.id`, which `check` reads from the reference itself, of the row that stands in its place here."""
    if not isinstance(node, Select) or node.name != "ref" or isinstance(node.type, Row):
        return None
    row = Select(operand=node.operand, name=node.name, type=Row(resource="owner"), through="field")
    return Select(operand=row, name="id", type=node.type, through="field")


def plain(value: Any) -> Any:
    if isinstance(value, Loaded):
        return value["id"]
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def in_sql(world: World, typed: Typed, dialect: Dialect, condition: bool = False) -> list[Any]:
    """The value for each item, as a database has it."""
    fragment = to_sql(typed, model=MODEL, rows={"item": "item"}, dialect=dialect, condition=condition)
    return asked(dialect, world.tables(), fragment, world.env(), MODEL, 'FROM "item" ORDER BY "id"')


def test_each_function_that_has_sql_is_asked() -> None:
    drawn = {overload.id for named in CALLS.values() for several in named.values() for overload, _ in several}
    missing = {each.id for each in TABLE if is_in_sql(each)} - drawn
    assert not missing, (
        f"{sorted(missing)}: `MADE` of tests/laws/worlds.py has no expressions of what they take or give"
    )


@EACH
@RELAXED
@given(expressions(), worlds())
def test_sql_and_python_agree_on_every_value(dialect: Dialect, text: str, world: World) -> None:
    typed = typed_of(text, SCOPE)
    problem = sql_problem(typed, ("item",), model=MODEL)
    if problem is not None:
        event(problem.message)
        return
    request, rows = world.loaded()
    value, truth = in_sql(world, typed, dialect), in_sql(world, typed, dialect, condition=True)
    for item, stored, true in zip(rows["item"], value, truth, strict=True):
        expected = in_python(typed, {**request, "item": item, ROWS: rows})
        found = from_sqlite(typed.type, stored)
        assert found == (None if expected is ERROR else expected), (text, item, expected, found)
        if isinstance(expected, bool):
            assert (true == 1) is expected, (text, item, expected, true)
        elif expected is ERROR:
            assert true in (None, 0) or not isinstance(from_sqlite(typed.type, true), bool), (text, item)


def test_a_process_that_asked_postgresql_leaves_no_connection_open() -> None:
    """Python tells of each that is when it ends."""
    server.directory()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    asks = (
        "from tests.laws.databases import asked\n"
        "from ninefold.sql.fragment import Fragment\n"
        "from ninefold.sql.postgresql import POSTGRESQL\n"
        "assert asked(POSTGRESQL, (), Fragment('1'), {}, {}, '') == [1]"
    )
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", asks]
    ended = subprocess.run(command, env={**os.environ, "PYTEST_XDIST_TESTRUNUID": run}, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
