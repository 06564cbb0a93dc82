"""What is said of changes, to whoever upgrades a database or serves from one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from ninefold.plan.schema import Schema
from ninefold.upgrade import steps
from ninefold.upgrade.change import Change, of_lacking
from ninefold.upgrade.changes import Changes
from ninefold.upgrade.steps import Premise


def told(change: Change) -> str:
    """A change that has been made by itself."""
    change = change.unasked
    head = {"automatic": "changed", "aside": "set aside", "back": "back again"}[change.kind]
    return f"added: {change.about}" if change.words.startswith("new") else f"{head}: {sentence(change)}"


def hidden_before(stored: Schema, adapted: Changes) -> tuple[str, ...]:
    """What is hidden in a database since an earlier start, by its names: fields and resources."""
    return tuple(each for each in _hidden(stored) if each in {*_hidden(adapted.after)})


def _hidden(schema: Schema) -> Iterator[str]:
    yield from (f"{table.name}.{each.column.name}" for table in schema.tables for each in table.aside)
    yield from (table.name for table in schema.aside)


def sentence(change: Change) -> str:
    return f"{change.about} {change.words}" if change.kind == "question" else f"{change.about}, {change.words}"


def rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def unmet(change: Change, premise: Premise, count: int, examples: str) -> str:
    """Why a change is not made without a decision: what the rows that are there are not."""
    about = change.about if not change.words else sentence(change)
    what = f"{change.about} ({change.words})" if change.words else change.about
    match premise:
        case steps.HaveValue() | steps.AreNone(column=""):
            return f"{rows(count)} {_have(count)} no value for {what}"
        case steps.Differ(columns=()):
            return f"{about}, and of {rows(count)} one can stay"
        case steps.Differ():
            return f"{about}, and {_values(count)} in several rows{_such_as(examples)}"
        case steps.Refer():
            return f"{about}, and {rows(count)} {'refers' if count == 1 else 'refer'} to what is not there any more"
        case steps.AreIn():
            return f"{about} is in {rows(count)} a state that is none any more: {examples}"
        case steps.AreSecrets(passwords=passwords):
            kinds = ("tokens", "passwords") if passwords else ("passwords", "tokens")
            return f"{about} holds {kinds[0]} in {rows(count)}, and they cannot become {kinds[1]}"
        case steps.AreNone():
            return f"{rows(count)} {_have(count)} a value of {what}"
        case steps.Convert():
            return f"{about}, and {_values(count)} not exact then{_such_as(examples)}"
        case _:
            assert_never(premise)


def answers(
    change: Change, premise: Premise, examples: Sequence[str], new: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Lines for the document of the upgrade, where the rows say what they would be about. `new`: states that their
    resources had not before."""
    match premise:
        case steps.AreIn(table=table, values=values):
            for each in examples:
                for state in new.get(table, ()):
                    yield f"{{state: {table}.{each}, to: {state}, since: kept}}   # `{state}` is new: renamed?"
                yield f"{{state: {table}.{each}, to: …, since: kept}}   # or since: now; to: {' or '.join(values)}"
        case steps.Differ(table=table, columns=columns) if columns:
            yield f"{{set: {table}.{columns[-1]}, is: …, where: …}}"
            yield f"{{remove rows: {table}, where: …}}"
        case steps.HaveValue(table=table, column=column) if not change.write:
            yield from of_lacking(table, column)
        case _:
            pass


def _such_as(examples: str) -> str:
    return f": {examples}" if examples else ""


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _values(count: int) -> str:
    return "1 value is" if count == 1 else f"{count:,} values are"
