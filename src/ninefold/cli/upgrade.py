"""`ninefold upgrade FILE`"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from ninefold.cli import going_over
from ninefold.cli.commands import AcceptProposals, Database, File, Flag, Parameter, option
from ninefold.cli.document import plan_beside, planned
from ninefold.cli.files import read_bytes
from ninefold.cli.leading_on import leads_on, typed
from ninefold.cli.terminal import Unusable, reason, remark, say, say_json, show
from ninefold.development.offers import values_of
from ninefold.diagnostics.diagnostic import Diagnostic, has_errors
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.source import Source
from ninefold.pipeline import Loaded
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Audit, Ended, Kept, Misfits
from ninefold.runtime.operator.due import Due, Falling
from ninefold.runtime.store import undo as undo_
from ninefold.runtime.store.changing import Decide, Judged, NotUpgraded, Rehearsed
from ninefold.runtime.store.protocol import Command
from ninefold.runtime.store.record import Known
from ninefold.runtime.store.upgrading import drop_from, has_backups, take_back, upgrade_database
from ninefold.syntax.parser import read
from ninefold.tools.decisions.contract import made, new_states, ways_of
from ninefold.tools.decisions.decide import decide
from ninefold.tools.decisions.document import NOTHING_DECIDED, Decided
from ninefold.tools.decisions.document import read as read_decisions
from ninefold.upgrade.changes import Outcome
from ninefold.upgrade.words import rows

Decisions: TypeAlias = Annotated[
    Path | None, Parameter(help="Where it is decided; else beside the contract, called after it.", show_default=False)
]

Write: TypeAlias = Annotated[
    Path | None,
    Parameter(help="Write the questions there, each with what could be decided, in comments.", show_default=False),
]

Backup: TypeAlias = Annotated[
    Path | None,
    Parameter(help="Where the backup is put; else beside the database, with the time in its name.", show_default=False),
]

Drop: TypeAlias = Annotated[
    Sequence[str],
    option(help="RESOURCE or RESOURCE.FIELD that was set aside: end it, with its rows or values; may be repeated."),
]

Expand: TypeAlias = Annotated[
    bool,
    option(
        help="Of a database in PostgreSQL, while nodes serve the contract before: add what this one needs, so that its"
        " nodes may serve beside them. What was cut short goes on when it is asked for again."
    ),
]

LoseWrites: TypeAlias = Annotated[bool, option(help="Put it back all the same.")]

Contract: TypeAlias = Annotated[
    bool,
    option(
        help="After `--expand`, once no node of the contract before serves: demand what this one demands, and set"
        " aside what it has not."
    ),
]


def upgrade(
    file: File,
    /,
    *,
    database: Database = None,
    decisions: Decisions = None,
    write: Write = None,
    apply: Flag = False,
    backup: Backup = None,
    expand: Expand = False,
    contract: Contract = False,
    undo: Flag = False,
    lose_writes: LoseWrites = False,
    drop: Drop = (),
    format: Literal["text", "json"] = "text",
    accept_proposals: AcceptProposals = False,
) -> int:
    """Move the rows of a database to a contract that has changed.

    Shows what would be done, and does it on a copy; nothing is changed, and a service may run meanwhile. What adds,
    relaxes or hides is done without a question; a field or a resource that the contract no longer has is set aside, and
    is there again when an earlier contract is served. What has to be decided over rows that are there is asked, and
    decided in a document beside the contract: `orders.upgrade.yaml` for `orders.md`.

    Exit status: 0 if it would go or has gone, 1 if something stands in the way or the contract has errors, 2 if the
    database cannot be used.

        ninefold upgrade orders.md
        ninefold upgrade orders.md --write orders.upgrade.yaml
        ninefold upgrade orders.md --apply
        ninefold upgrade orders.md --undo
        ninefold upgrade orders.md --database postgresql://db.example/orders --expand

    Parameters
    ----------
    apply
        Do it: behind a backup, in one transaction, while nobody serves the database. One in PostgreSQL is backed up
        by its operator, and nobody serves it during a preview either.
    undo
        After `--expand`, once no node of this contract serves: take it back. Else put the backup of the last upgrade
        back, unless rows were written since. What is there is kept beside it.
    format
        `json` gives one object.
    """
    loaded, plan = planned(file, accept_proposals)
    path, plan = plan_beside(loaded, plan, file, database)
    again = _Again(file, path, decisions)
    try:
        taken = _taken_back(path, undo, lose_writes, drop, backup)
        if taken is not None:
            return taken
        judge = Due(plan, audit := Audit(plan.stored, inf, Kept(loaded.source, lambda _: ()), plan.issuing))
        decide = _decide(again, plan, loaded, reads=write is None and not (expand or contract))
        if expand or contract:
            return going_over.goes_over(path, plan, decide, judge if contract else None, again)
        done = upgrade_database(path, plan, decide, judge, apply, backup)
    except NotUpgraded as error:
        then = leads_on(error.then, file, path)
        raise Unusable(str(error), *then, *error.help, details=error.details) from None
    return _written(write, done, again) if write is not None else _told(done, (audit, judge), format, again, apply)


def _taken_back(path: str, undo: bool, lose_writes: bool, drop: Sequence[str], backup: Path | None) -> int | None:
    """What is done whatever the contract says; None: nothing of it is asked for. Raises NotUpgraded."""
    if backup and not has_backups(path):
        raise Unusable("there is no backup of a database in PostgreSQL but its operator's", "pg_dump makes one")
    if undo and not has_backups(path):
        return going_over.taken_back(take_back(path))
    if undo:
        return _undone(*undo_.undo(path, lose_writes))
    return _dropped(drop_from(path, drop)) if drop else None


@dataclass(slots=True)
class _Again:
    """How the command is called once more. `spent`: what the document decides was done before."""

    file: str
    database: str
    decisions: Path | None
    spent: bool = False

    @property
    def document(self) -> Path | None:
        """The one that is read."""
        beside = _beside(self.file)
        return self.decisions or (beside if self.file != "-" and beside.exists() else None)

    @property
    def to_decide(self) -> str:
        path = self.document
        if path is None or self.spent:
            return self.to_write
        return f"a line of each into {path}, under `changes`; then: {self()}"

    @property
    def to_write(self) -> str:
        """The questions, where no file is."""
        first = self.decisions or _beside(self.file)
        names = (first, *(first.with_name(f"{first.stem}.{number}{first.suffix}") for number in range(2, 1_000)))
        path = next(each for each in names if not each.exists())
        return typed(Command("", "upgrade", ("--write", str(path))), self.file, self.database)

    def __call__(self, *more: str, decisions: Path | None = None) -> str:
        named = decisions or self.decisions
        words = [] if named is None or named == _beside(self.file) else ["--decisions", str(named)]
        return typed(Command("", "upgrade", (*words, *more)), self.file, self.database)


def _beside(file: str) -> Path:
    return Path(file).with_suffix(".upgrade.yaml")


def _told(
    done: Rehearsed,
    of_rows: tuple[Audit, Due],
    format: Literal["text", "json"],
    again: _Again,
    applied: bool,
) -> int:
    audit, due = of_rows
    # What does not fit stays as it is, where it goes; what falls due and what ends is told in any case.
    found = _Found(audit.counted.fields if done.goes else (), audit.counted.ended, due.falling)
    if format == "json":
        say_json(_json(done, found))
    else:
        say("\n".join(visible(line) for line in _lines(done, found, again, applied)))
    return 0 if done.goes else 1


@dataclass(frozen=True, slots=True)
class _Found:
    """What the contract makes of what stays in the database as it is: rows that do not fit, credentials that mean
    nothing any more, and rows that are due."""

    left: Sequence[Misfits]
    ended: Sequence[Ended]
    falling: Sequence[Falling]

    def untouched(self) -> Iterator[str]:
        for each in self.ended:
            yield f"{'ended':<12}{each.words}"
            yield f"{'':<12}  {{scheme: {each.scheme}, to: …}} in the document of the upgrade keeps them"
        yield from (f"{'due':<12}{each.words}" for each in self.falling)


def _decide(again: _Again, plan: ServicePlan, loaded: Loaded, reads: bool) -> Decide:
    """What is decided in a document, where one is read, and by the contract itself. Raises Unusable where that document
    cannot be read, or decides what cannot be."""
    wanted, given = plan.schema, {} if loaded.checked is None else made(loaded.checked)
    ways = ways_of(loaded)
    checks = [rule.name for each in plan.stored for rule in each.rules]
    path = again.document if reads else None

    def of(what: Decided, stored: Schema, known: Known) -> tuple[Outcome, tuple[Diagnostic, ...]]:
        since = ways.served_with(known.contract)
        found, wrong = decide(what, stored, wanted, given, checks, since, known.is_empty, plan.issuing)
        return replace(found, states=new_states(wanted, known.contract), made=values_of(plan.stored)), wrong

    if path is None:
        return lambda stored, known: of(NOTHING_DECIDED, stored, known)[0]
    data = read_bytes(str(path))
    outcome, digest = read(str(path), data), sha256(data).hexdigest()
    source = outcome.value
    document = read_decisions(source)
    _sound((*outcome.diagnostics, *document.diagnostics), source, again)

    def decided(stored: Schema, known: Known) -> Outcome:
        if digest in known.decided:
            remark(f"what {source.name} decides was done before, and counts once")
            again.spent = True
            return of(NOTHING_DECIDED, stored, known)[0]
        found, diagnostics = of(document.value, stored, known)
        _sound(diagnostics, source, again)
        return replace(found, document=digest if document.value.decisions else "")

    return decided


def _sound(diagnostics: Sequence[Diagnostic], source: Source, again: _Again) -> None:
    show(diagnostics, source, sys.stderr)
    if has_errors(tuple(diagnostics)):
        help = f"once it is mended: {again()}", f"to have the questions written anew: {again.to_write}"
        raise Unusable(f"what {source.name} decides cannot be done, and nothing was changed", *help)


def _written(path: Path, done: Rehearsed, again: _Again) -> int:
    count = sum(1 for each in done.changes if each.why)
    if not count:
        say("nothing is to be decided, and nothing was written")
        return 0
    lines = [f"from: {done.shape}", f"# {_HOW}", f"# {_EXPRESSIONS}", "changes:"]
    for each in done.changes:
        for why in each.why:
            lines += ["", f"  # {why}", *(f"  # - {line}" for line in each.write)]
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        help = (f"another name will do: {again.to_write}",) if path.exists() else ()
        raise Unusable(f"{path} cannot be written: {reason(error)}", *help) from None
    say(f"{path}: {count} to be decided. {_HOW}; then: {again(decisions=path)}")
    return 1


def _undone(was: Path, now: Path) -> int:
    say(f"the database is as it was before the upgrade ({visible(str(was))})")
    say(f"what was there is kept: {visible(str(now))}")
    return 0


def _dropped(gone: Sequence[tuple[str, int]]) -> int:
    for name, count in gone:
        say(f"`{visible(name)}` is gone, with {count:,} {_kept_of(name, count)}")
    return 0


def _kept_of(name: str, count: int = 2) -> str:
    return ("value" if "." in name else "row") + ("" if count == 1 else "s")


_EXPRESSIONS: Final = (
    """What stands behind `is` and `where` is an expression: "'a text'", 5, old.size + 1, "old.id == 'r1'\""""
)
_HOW: Final = "Of each question, take the `#` from one line and fill in what is `…`"


def _lines(done: Rehearsed, found: _Found, again: _Again, applied: bool) -> Iterator[str]:
    listed = ", ".join(f"{count:,} {name}" for name, count in done.rows)
    yield f"{done.database}{f' ({listed})' if listed else ''}"
    yield ""
    if done.decided:
        yield f"{'decided':<12}{done.decided} in the document of the upgrade"
    elif not done.given and not done.inherited and not any(each.why or each.change.words for each in done.changes):
        yield "nothing has to be changed" + (" that callers see" if done.made else "")
        yield from found.untouched()
        yield from _put_back(done, again) if applied else ()
        return
    for said in done.inherited:
        yield f"{said.how:<12}{said.words}"
    for name in done.given:
        count = dict(done.rows).get(name.partition(".")[0])
        all_rows = "each row" if count is None else f"each of {rows(count)}"
        yield f"{'given':<12}{name}: {all_rows} has what the contract gives to new ones"
    for each in done.changes:
        yield from _change(each)
    for name, count in done.lost:
        yield f"{'lost':<12}{name}: {count:,} {_kept_of(name, count)}"
    for name, count in done.removed:
        yield f"{'lost':<12}{name}: {rows(count)}"
    if done.undelivered:
        yield f"{'lost':<12}deliveries: {done.undelivered:,} still to be made, or given up"
    for name, count in done.emptied:
        yield f"{'lost':<12}{name}: {count:,} values, in the place of which none is set"
    yield from (f"{'left':<12}{each.words}" for each in found.left)
    for name, count in done.aside:
        yield f"{'hidden':<12}{name}: {count:,} {_kept_of(name, count)} (--drop {name} ends them)"
    yield from found.untouched()
    yield ""
    if not done.goes:
        open_ = sum(1 for each in done.changes if each.why)
        yield f"{open_} to be decided. Nothing was changed. To decide: {again.to_decide}"
    elif applied:
        yield "upgraded."
        yield from _put_back(done, again)
    else:
        on = "on a copy" if has_backups(done.database) else "in a transaction that was undone"
        yield f"Nothing was changed: this was a rehearsal {on}. To do it: {again('--apply')}"


def _put_back(done: Rehearsed, again: _Again) -> Iterator[str]:
    if done.backup is not None:
        yield f"The backup is {done.backup}. To put it back: {again('--undo')}"


def _change(each: Judged) -> Iterator[str]:
    change = each.change
    if each.why:
        for why in each.why:
            yield f"{'question':<12}{why}"
        for line in each.write:
            yield f"{'':<12}  {line}"
    elif change.words:
        yield f"{change.kind:<12}{change.about}, {change.words}"


def _json(done: Rehearsed, found: _Found) -> dict[str, object]:
    return {
        "database": done.database,
        "rows": dict(done.rows),
        "changes": [
            {
                "kind": each.change.kind,
                "about": each.change.about,
                "words": each.change.words,
                "open": list(each.why),
                "write": list(each.write),
            }
            for each in done.changes
            if each.change.words or each.why
        ],
        "aside": dict(done.aside),
        "lost": dict(done.lost),
        "emptied": dict(done.emptied),
        "removed": dict(done.removed),
        "left": {each.name: each.count for each in found.left},
        "ended": [{"scheme": each.scheme, "of": each.resource, "count": each.count} for each in found.ended],
        "undelivered": done.undelivered,
        "given": list(done.given),
        "due": [{"of": each.resource, "transition": each.transition, "count": each.count} for each in found.falling],
        "inherited": [{"how": each.how, "words": each.words} for each in done.inherited],
        "backup": None if done.backup is None else str(done.backup),
        "goes": done.goes,
    }
