"""What is asked of every contract, however wrong: all that ninefold says of a document, without an exception and
within a bound of CPU."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw
import msgspec

from ninefold.cli.plan import listing
from ninefold.diagnostics.diagnostic import Severity, has_errors
from ninefold.diagnostics.render import render, to_json_lines
from ninefold.diagnostics.sarif import result_of
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import statements
from ninefold.runtime.store.connections import configure
from ninefold.runtime.store.tables import create_schema
from ninefold.syntax.edits import edited
from ninefold.tools import gaps, obstacles
from ninefold.tools.explain import render as explained
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.service import explain_service
from ninefold.tools.letter import letter
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service
from ninefold.tools.permissions import render as permitted
from ninefold.tools.permissions.matrix import matrix
from ninefold.tools.propose.accept import acceptance, candidates
from ninefold.tools.propose.propose import propose

CPU: Final = 5.0
"""Seconds of CPU for one contract of the size of a case, with all that is said of it: a hundred times what it takes."""


class TooLong(Exception):
    """A contract took more CPU than it may."""


@contextmanager
def bounded(seconds: float = CPU) -> Iterator[None]:
    """Raises TooLong once the block has taken so much CPU."""

    def ended(*_: object) -> None:
        raise TooLong(f"more than {seconds} s of CPU")

    before = signal.signal(signal.SIGVTALRM, ended)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(name: str, text: str, accept_proposals: bool = False, endpoints: int = 3) -> bool:
    """Everything that ninefold says of a document; whether it is without errors. Of so many endpoints, all is said."""
    loaded = compile_document(name, text.encode(), accept_proposals)
    render(loaded.diagnostics, loaded.source)
    to_json_lines(loaded.diagnostics, loaded.source)
    for each in loaded.diagnostics:
        result_of(each)
    gaps.to_text(loaded.contract, loaded.open_questions)
    gaps.to_json(loaded.contract, loaded.open_questions)
    letter(loaded.contract, loaded.open_questions)
    found = matrix(loaded.contract, loaded.checked)
    permitted.to_text(found)
    permitted.to_markdown(found)
    msgspec.json.encode(permitted.to_json(found))
    _explain(loaded, endpoints)
    for older in loaded.older:
        in_version = loaded.of(older.version)
        if in_version is not None:
            _explain(in_version, endpoints)
            _described(in_version)
    _described(loaded)
    if loaded.plan is not None:
        planned(loaded.plan)
    if not has_errors(loaded.diagnostics):
        _answered(name, loaded)
    return not has_errors(loaded.diagnostics)


def _explain(loaded: Loaded, endpoints: int) -> None:
    explanation = explain_service(loaded)
    explained.to_text(explanation)
    explained.to_markdown(explanation)
    msgspec.json.encode(explained.to_json(explanation))
    stated: tuple[Endpoint, ...] = value_of(loaded.contract.endpoints.endpoints) or ()
    for endpoint in stated[:endpoints]:
        explanation = explain_endpoint(loaded, endpoint, with_statements=True)
        explained.to_text(explanation)
        msgspec.json.encode(explained.to_json(explanation))
        stand = obstacles.obstacles(endpoint.key, loaded.contract, loaded.open_questions, loaded.checked, ())
        obstacles.to_text(stand, loaded.source)


def _described(loaded: Loaded) -> None:
    if loaded.plan is not None and loaded.checked is not None:
        described = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
        msgspec.json.encode(described)


def planned(plan: ServicePlan) -> None:
    listing(plan)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=ServicePlan) == plan
    connection = apsw.Connection(":memory:")
    try:
        configure(connection)
        for text in create_schema(plan.schema):
            connection.execute(text)
        for statement in statements(plan):
            switches = {piece.when for piece in statement.pieces} | {piece.unless for piece in statement.pieces}
            for on in switches:
                taken = [each for each in statement.pieces if each.when in (None, on) and (each.unless or "") != on]
                if text := "".join(piece.text for piece in taken):
                    connection.execute(f"EXPLAIN {text}", [None] * sum(len(piece.binds) for piece in taken))
    finally:
        connection.close()


def _answered(name: str, loaded: Loaded) -> None:
    """What is proposed compiles, and can be accepted."""
    again = compile_document(name, loaded.source.text.encode(), accept_proposals=True)
    if has_errors(again.diagnostics):
        return
    text = propose(again).text
    proposed = compile_document(name, text.encode())
    assert not has_errors(proposed.diagnostics), f"proposed: {_errors(proposed)}"
    chosen = [each.written for each in candidates(proposed.document, proposed.open_questions)]
    compile_document(name, edited(text, acceptance(proposed.document, chosen)).encode())


def _errors(loaded: Loaded) -> str:
    return render([each for each in loaded.diagnostics if each.code.severity is Severity.ERROR], loaded.source)
