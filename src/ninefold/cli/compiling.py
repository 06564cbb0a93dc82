"""What a service takes of its document, which another process compiles: a program that serves for months holds no
compiler, and nothing that one has made on its way."""

from __future__ import annotations

from ninefold.cli.processes import apart
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Kept

Held = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """`diagnostics`: those that `serve` tells. `plan`: for the kind of database that was asked for, or None where there
    are errors; `blocked`: where it serves nothing, what is open, as a terminal shows it. `kinds`: of events.
    `has_older`: part 9 says of rows of older versions what they hold."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    plan: ServicePlan | None
    blocked: str
    kinds: tuple[str, ...]
    has_older: bool


def compiled(file: str, data: bytes, accept_proposals: bool, kind: str) -> Compiled:
    """Compile what was read of a document, for a kind of database (`ninefold.runtime.store.opening.kind_of`)."""
    return apart(_compiled, file, data, accept_proposals, kind)


def kept(found: Compiled, accept_proposals: bool) -> Kept:
    """What is kept beside the rows."""
    source = found.source

    def others(before: tuple[str, str] | None) -> Held:
        # Rows that were served with the same hold what they are said to; nobody has to compile it for that.
        if not found.has_older or before is None or before == (source.name, source.text):
            return ()
        return apart(_held_otherwise, source.name, source.text.encode(), accept_proposals, before)

    return Kept(source, others)


# ── What the other process does ───────────────────────────────────────────────────────────────────────────────────────


def _compiled(file: str, data: bytes, accept_proposals: bool, kind: str) -> Compiled:
    from ninefold.pipeline import compile_document
    from ninefold.tools.decisions.contract import ways_of

    loaded = compile_document(file, data, accept_proposals)
    plan, checked, blocked = loaded.plan_for(kind), loaded.checked, ""
    if plan is not None and not plan.routes:
        from ninefold.tools.gaps import to_text

        blocked = to_text(loaded.contract, loaded.open_questions)
    return Compiled(
        loaded.source,
        tuple(each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE),
        plan,
        blocked,
        () if checked is None else tuple(each.name for each in checked.events.kinds),
        bool(ways_of(loaded).older),
    )


def _held_otherwise(file: str, data: bytes, accept_proposals: bool, before: tuple[str, str]) -> Held:
    from ninefold.pipeline import compile_document
    from ninefold.tools.decisions.contract import ways_of

    return tuple(ways_of(compile_document(file, data, accept_proposals)).others(before))
