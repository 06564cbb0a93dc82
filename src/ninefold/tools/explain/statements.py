"""The statements of an endpoint, as the plan holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ninefold.expressions.tree import words
from ninefold.language.authentication import ANYONE
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.endpoints import Endpoint
from ninefold.plan.operations import Compute, List, Operation, Read, Stream, Sweep
from ninefold.plan.statement import Statement, switched
from ninefold.plan.writes import Create, Occurrences, ReadBack, SameRow, Write, as_it_was
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds


def statements(g: Grounds, endpoint: Endpoint) -> Iterator[Item]:
    """For each kind of caller, each statement with what its question marks stand for. Nothing for an endpoint that
    is not served."""
    route = g.routes.get(endpoint.key)
    for admission in route.admissions if route is not None else ():
        place = next(iter(admission.trace), None)
        below = tuple(
            Item(f"{called}: {text(statement)}", items=tuple(_binds(statement)))
            for called, statement in _of(admission.operation)
        )
        who = "for anyone" if admission.who == ANYONE else f"for a caller known by `{admission.who}`"
        if route is not None and route.cases is not None and not admission.case:
            continue  # never performed
        if route is not None and route.cases is not None:
            who += f", in the case `{route.cases.cases[admission.case - 1].name or ALL_OTHERS}`"
        yield Item(who if below else f"{who}: no statement", place, items=below)


def _of(operation: Operation) -> Iterator[tuple[str, Statement]]:
    match operation:
        case Read():
            yield "reads", operation.select
            yield "where nothing is found, asks why", operation.judge.statement
        case List():
            yield "reads", operation.select
            if operation.count is not None:
                yield "counts", operation.count
            if operation.judge is not None:
                yield "where nothing is found, asks why", operation.judge.statement
        case Write():
            yield from _of_write(operation)
            yield "where nothing is touched, asks why", operation.judge.statement
        case Sweep(change=change):
            if change.find is not None:
                yield "finds the rows", change.find
            if operation.judge is not None:
                yield "where nothing is found, asks why", operation.judge.statement
            yield "asks of each row whether something refuses it", change.write.judge.statement
            for called, statement in _of(change.write):
                if statement is not change.write.judge.statement:
                    yield f"of all of them, in the same transaction, {called}", statement
            if operation.items is not None:
                yield "reads what is shown of them, in the same transaction", operation.items
        case Stream():
            yield "reads what the log has gained, as long as the caller listens", operation.select
        case Compute():
            if operation.judge is not None:
                yield "asks whether it is refused", operation.judge.statement
            if operation.select is not None:
                yield "reads", operation.select
        case _:
            assert_never(operation)


def _of_write(write: Write) -> Iterator[tuple[str, Statement]]:
    occurrences, was = write.step(Occurrences), as_it_was(write)
    events = [(event.kind, event.select) for event in write.events]
    if occurrences is not None and occurrences.before:
        yield from ((f"reads the row for the event `{kind}`, before the deletion", select) for kind, select in events)
        events = []
    if was is not None:
        yield "reads the row as it was", was
    if isinstance(write, Create) and write.plainly is not None:
        yield "writes", write.plainly.statement
        yield "where that is refused, writes", write.statement
    else:
        yield "writes", write.statement
    yield from ((f"reads the row for the event `{kind}`, in the same transaction", select) for kind, select in events)
    for further in write.steps(SameRow):
        for called, statement in _of(further.write):
            yield f"with the same row, in the same transaction, {called}", statement
    if (read := write.step(ReadBack)) is not None:
        yield "then reads, in the same transaction", read.select


def text(statement: Statement) -> str:
    """The pieces one after another; those that a request switches on stand in brackets behind what switches them."""
    return " ".join(switched(piece, piece.text.strip()) for piece in statement.pieces)


def _binds(statement: Statement) -> Iterator[Item]:
    binds = (bind for piece in statement.pieces for bind in piece.binds)
    return (Item(f"? {number}: `{words(bind)}`") for number, bind in enumerate(binds, 1))
