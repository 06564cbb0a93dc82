"""What becomes of rows that are there: whether a start, or an upgrade, may ask for something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ninefold.diff.alone import Alone, Both
from ninefold.diff.schemas import steps
from ninefold.diff.verdicts import Effect
from ninefold.plan.service import ServicePlan
from ninefold.upgrade.change import Change as Becoming
from ninefold.upgrade.changes import changes
from ninefold.upgrade.steps import AreIn, Premise


def of_rows(alone: Alone, both: Both, *, has_rules: bool) -> Iterator[Effect]:
    """`has_rules`: checks of resources may be others."""
    # What is taken back from the new contract differs from it by what it does.
    old, new = alone.before, both.new_plan if alone.known and alone.plan is None else alone.plan
    if new is None:
        if not alone.felt.routes and {*alone.felt.rest.values()} == {"runs"}:
            yield Effect("operators", "look", None, "what rows have to be is checked")
        return
    always, there = both.once(_always), {each.name for each in both.old_plan.schema.tables}
    was, now = (
        replace(of.schema, tables=tuple(each for each in of.schema.tables if alone.plan or each.name in there))
        for of in (old, new)
    )
    for each in changes(was, now).changes:
        if each in always or (not each.words and all(_goes_on(one, always) for one in each.premises)):
            continue
        said = f"{each.about} {each.words}".rstrip()
        if each.kind == "question" or each.by == "upgrade":
            yield Effect("operators", "look", None, f"{said}: `ninefold upgrade` asks where there are rows")
        elif each.premises:
            yield Effect("operators", "look", None, f"{said}: rows that are there may not fit, and stop the start")
        elif each.words:
            yield Effect("operators", "compatible", None, f"{said}: the database follows by itself")
    for what in dict.fromkeys(_unfit(old, new, has_rules)):
        yield Effect("operators", "look", None, f"{what}: rows that are there may not fit, and stop the start")


def _always(both: Both) -> tuple[Becoming, ...]:
    """What a start asks of rows though nothing is another."""
    schema = both.old_plan.schema
    return changes(schema, schema).changes


def _goes_on(premise: Premise, always: Iterable[Becoming]) -> bool:
    """Whether rows are in a state as they were, where there are more of them."""
    was = [one for each in always for one in each.premises if isinstance(one, AreIn)]
    return isinstance(premise, AreIn) and any(
        (one.table, one.column) == (premise.table, premise.column) and {*one.values} <= {*premise.values} for one in was
    )


def _unfit(old: ServicePlan, new: ServicePlan, has_rules: bool) -> Iterator[str]:
    """The fields, and checks if there are others, that rows which are there may not keep."""
    there = {(table.name, column.name) for table in old.schema.tables for column in table.columns}
    was = {(one.resource, each.column.name): each.schema for one in old.stored for each in one.fields}
    rules = {(one.resource, each.words) for one in old.stored for each in one.rules}
    tables = {table.name for table in old.schema.tables}
    for one in new.stored:
        for each in one.fields:
            of = one.resource, each.column.name
            if of in there and any(step.direction != "more" for step in steps(was.get(of, {}), each.schema, "")):
                yield ".".join(of)
        for rule in one.rules if has_rules else ():
            if one.resource in tables and (one.resource, rule.words) not in rules:
                yield f"a check of {one.resource}"
