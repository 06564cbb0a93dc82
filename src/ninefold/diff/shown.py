"""What responses and payloads show, with views in their places: whether all of it is shown on, as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from ninefold.checked.contents import Array, Choice, Content, Each, Object, Rows
from ninefold.checked.service import Checked
from ninefold.expressions.tree import Select, Variable
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import parts

Where: TypeAlias = tuple[str, ...]


def shows_all_of(old: Checked, new: Checked) -> bool:
    """Whether each value that the old one shows is shown by the new one at the same place, perhaps beside others."""
    was, now = dict(_contents(old)), dict(_contents(new))
    return all(at not in now or _all_of(each, now[at]) for at, each in was.items())


def members_read(plan: ServicePlan) -> frozenset[tuple[str, str]]:
    """The members of variables, such as `error.detail`, that anything reads which a plan makes."""
    return frozenset(
        (each.operand.name, each.name) for each in parts(plan, Select) if isinstance(each.operand, Variable)
    )


def _contents(of: Checked) -> Iterator[tuple[Where, Content | None]]:
    for endpoint in of.endpoints:
        called = endpoint.key, endpoint.called or ""
        yield (*called, "response"), endpoint.response.content
        outcomes = getattr(endpoint.operation, "outcomes", {})
        yield from (((*called, name), each.content) for name, each in outcomes.items())
    for kind in of.events.kinds:
        yield from ((("event", kind.name, each.verb, each.resource), each.payload) for each in kind.causes)
    yield ("error",), of.errors.content


def _all_of(old: Content | None, new: Content | None) -> bool:
    match old, new:
        case Object(), Object():
            now = dict((*new.members, *new.expanded))
            kept = all(name in now and _all_of(each, now[name]) for name, each in (*old.members, *old.expanded))
            return kept and replace(old, members=(), expanded=(), named=None) == replace(
                new, members=(), expanded=(), named=None
            )
        case Array(items=was), Array(items=items):
            return len(was) == len(items) and all(map(_all_of, was, items))
        case Rows(), Rows():
            return _all_of(old.item, new.item)
        case Each(), Each():
            return _all_of(old.item, new.item) and replace(old, item=new.item) == new
        case Choice(), Choice():
            kept = _all_of(old.yes, new.yes) and _all_of(old.no, new.no)
            return kept and replace(old, yes=new.yes, no=new.no) == new
        case _:
            return old == new
