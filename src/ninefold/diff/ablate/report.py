"""What the law found of a whole contract: the table of facts by kind and outcome, the breaches, what was widened, and
the facts that no request exercises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source
from ninefold.diff.ablate.facts import REMOVALS, Written
from ninefold.diff.ablate.law import OUTCOMES, Found
from ninefold.diff.requests import Excuse
from ninefold.language.key import Kind


@dataclass(frozen=True, slots=True)
class Quiet:
    """A fact whose removal changes nothing in any request. `reason`: why that is so; None: nobody has said."""

    fact: Written
    reason: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """`requests`: how many there are. `counts`: how often a removal of a fact of a kind came to an outcome. `unused`:
    excuses for facts that are exercised, or not there."""

    source: Source
    requests: int
    facts: int
    counts: Counter[tuple[str, Kind, str]]
    breaches: tuple[Found, ...]
    widened: tuple[Found, ...]
    quiet: tuple[Quiet, ...]
    unused: tuple[Excuse, ...]

    @property
    def holds(self) -> bool:
        """Whether the contract's service does nothing that the contract does not state, as far as requests show."""
        return not self.breaches and all(each.reason for each in self.quiet) and not self.unused


def report(source: Source, requests: int, found: Iterable[Found], excuses: tuple[Excuse, ...]) -> Report:
    every = tuple(found)
    quiet = tuple(Quiet(each.fact, _reason(each.fact, excuses)) for each in every if each.is_quiet)
    used = {excuse for excuse in excuses for each in quiet if fnmatchcase(each.fact.address, excuse.facts)}
    return Report(
        source=source,
        requests=requests,
        facts=len({(each.fact.part, each.fact.route) for each in every}),
        counts=Counter((each.removal, each.fact.kind, each.outcome) for each in every),
        breaches=tuple(each for each in every if each.breaches),
        widened=tuple(each for each in every if each.widened),
        quiet=quiet,
        unused=tuple(excuse for excuse in excuses if excuse not in used),
    )


def _reason(fact: Written, excuses: tuple[Excuse, ...]) -> str | None:
    return next((each.reason for each in excuses if fnmatchcase(fact.address, each.facts)), None)


def to_text(found: Report) -> str:
    lines = [_counted(found), ""]
    rows = list(_rows(found))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    lines += _findings(found, "")
    return "\n".join(lines) + "\n"


def to_markdown(found: Report) -> str:
    header, *rows = _rows(found)
    lines = [f"{_counted(found)}.", ""]
    lines += [f"| {' | '.join(header)} |", "|---|---|" + "--:|" * (len(header) - 2)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines += _findings(found, "- ")
    return "\n".join(lines) + "\n"


def to_json(found: Report) -> dict[str, Any]:
    return {
        "facts": found.facts,
        "requests": found.requests,
        "holds": found.holds,
        "counts": [
            {"removal": removal, "kind": kind.value, "outcome": outcome, "facts": count}
            for (removal, kind, outcome), count in sorted(found.counts.items(), key=str)
        ],
        "breaches": [{**_fact(found, each), "breaches": list(each.breaches)} for each in found.breaches],
        "widened": [{**_fact(found, each), "requests": list(each.widened)} for each in found.widened],
        "not exercised": [
            {"fact": each.fact.address, "line": _line(found, each.fact), "reason": each.reason} for each in found.quiet
        ],
    }


def _counted(found: Report) -> str:
    facts, requests = ("fact" if found.facts == 1 else "facts"), ("request" if found.requests == 1 else "requests")
    return f"{found.facts} {facts}, {found.requests} {requests}"


def _rows(found: Report) -> Iterator[tuple[str, ...]]:
    """A row a removal and kind, a column an outcome."""
    outcomes = [each for each in OUTCOMES if any(outcome == each for _, _, outcome in found.counts)]
    yield ("", "kind", *outcomes)
    for removal in REMOVALS:
        for kind in Kind:
            numbers = [found.counts[removal, kind, outcome] for outcome in outcomes]
            if any(numbers):
                yield (removal, kind.value, *(str(number) if number else "" for number in numbers))


def _findings(found: Report, mark: str) -> list[str]:
    lines: list[str] = []
    if found.breaches:
        lines += ["", f"Breaches ({len(found.breaches)}):", ""]
        for each in found.breaches:
            lines.append(f"{mark}{_headline(found, each)}")
            lines += [f"    {words}" for words in each.breaches[:MOST]]
            if len(each.breaches) > MOST:
                lines.append(f"    and {len(each.breaches) - MOST} more")
    if found.widened:
        lines += ["", "Widened, because `all others` still stands:", ""]
        lines += [f"{mark}{_headline(found, each)}" for each in found.widened]
    silent = [each for each in found.quiet if each.reason is None]
    if silent:
        lines += ["", "Not exercised by any request:", ""]
        lines += [
            f"{mark}line {_line(found, each.fact)}: {each.fact.address} ({each.fact.kind.value})" for each in silent
        ]
    excused = [each for each in found.quiet if each.reason is not None]
    if excused:
        lines += ["", "Not exercised, for a reason:", ""]
        lines += [f"{mark}line {_line(found, each.fact)}: {each.fact.address}: {each.reason}" for each in excused]
    if found.unused:
        lines += ["", "Said not to be exercised, and exercised or not there:", ""]
        lines += [f"{mark}{each.facts}: {each.reason}" for each in found.unused]
    return lines


MOST = 3
"""Breaches of one removal that are printed."""


def _headline(found: Report, each: Found) -> str:
    return (
        f"line {_line(found, each.fact)}: {each.fact.address} ({each.fact.kind.value}), {each.removal}: {each.outcome}"
    )


def _line(found: Report, fact: Written) -> int:
    return found.source.place(fact.span.start).line


def _fact(found: Report, each: Found) -> dict[str, Any]:
    return {
        "fact": each.fact.address,
        "line": _line(found, each.fact),
        "kind": each.fact.kind.value,
        "removal": each.removal,
        "outcome": each.outcome,
    }
