"""`ninefold upgrade FILE --expand`, `--contract` and `--undo`, told: a database goes over to another contract while
nodes serve it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ninefold.cli.terminal import say
from ninefold.diagnostics.render import visible
from ninefold.diff.schemas import steps
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.changing import Before, Decide, Over
from ninefold.runtime.store.protocol import Judge
from ninefold.runtime.store.record import Contract
from ninefold.runtime.store.upgrading import come_to_its_end, go_over


def _plan_of(kept: Contract | None, accept_proposals: bool) -> ServicePlan | None:
    return (
        None if kept is None else compile_document(kept[0], kept[1].encode(), accept_proposals).plan_for("postgresql")
    )


def _wider(was: Any, now: Any) -> bool:
    return all(each.direction == "more" for each in steps(was, now))


BEFORE: Final = Before(_plan_of, _wider)


def goes_over(url: str, plan: ServicePlan, decide: Decide, judge: Judge | None, again: Callable[[str], str]) -> int:
    """`judge`: of the rows, where it comes to its end. `again`: how the command is called once more, with an option.
    Raises NotUpgraded."""
    if judge is None:
        return _gone_over(go_over(url, plan, decide, BEFORE), again)
    return _at_its_end(come_to_its_end(url, plan, decide, judge, BEFORE), again)


def _gone_over(done: Over, again: Callable[[str], str]) -> int:
    if done.refused:
        return _refused(done, again)
    _say(f"{done.database}, which {_nodes(done.nodes)} the contract before", _added(done), "nothing has to be added")
    say("Nodes of this contract may be started beside those.")
    say(f"Once none of the contract before serves: {again('--contract')}")
    say(f"To take it back, once none of this one serves: {again('--undo')}")
    return 0


def _at_its_end(done: Over, again: Callable[[str], str]) -> int:
    if done.refused:
        return _refused(done, again)
    _say(f"{done.database}, which this contract alone is served from now", _hidden(done))
    return 0


def taken_back(done: Over) -> int:
    gone = (f"{'taken back':<12}{each}" for each in done.taken)
    _say(f"{done.database}, which the contract before alone is served from now", (*gone, *_hidden(done)))
    return 0


def _say(head: str, lines: tuple[str, ...], none: str = "nothing is hidden") -> None:
    say("\n".join(map(visible, (head, "", *(lines or (none,)), ""))))


def _added(done: Over) -> tuple[str, ...]:
    moved = (f"{'moved':<12}{name}: {count:,} rows have a value" for name, count in done.moved)
    held = (f"{'waits':<12}{each}: what the one before did not is unavailable until then" for each in done.held)
    return (*(f"{'added':<12}{each}" for each in done.added), *moved, *held)


def _hidden(done: Over) -> tuple[str, ...]:
    return tuple(_of_hidden(done))


def _of_hidden(done: Over) -> Iterator[str]:
    for name, count in done.aside:
        yield f"{'hidden':<12}{name}: {count:,} {'values' if '.' in name else 'rows'} (--drop {name} ends them)"


def _refused(done: Over, again: Callable[[str], str]) -> int:
    _say(done.database, tuple(f"{'refused':<12}{each}" for each in done.refused))
    say("This is not done while nodes serve, and nothing was changed.")
    say(f"To do it while nobody serves: {again('--apply')}")
    return 1


def _nodes(count: int) -> str:
    return "1 node serves for" if count == 1 else f"{count} nodes serve for"
