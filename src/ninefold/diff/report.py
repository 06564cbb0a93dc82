"""What is found, told: as text, for programs, for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.sarif import Level, Result, Rule
from ninefold.diagnostics.source import Source, Span
from ninefold.diff.finding import Difference, Finding, HowOlder, Witness, in_order
from ninefold.diff.verdicts import VERDICTS, Audience, Verdict

FOLDED: Final[tuple[Verdict, ...]] = ("compatible", "words")
"""What is counted, and told one by one only if asked for."""

LARGEST: Final = 60_000
"""Code points of Markdown: a comment on a pull request of GitHub has at most 65,536."""

MOST_LINES: Final = 6


def _counted(difference: Difference, found: Iterable[Finding]) -> str:
    """How many there are of each, the gravest first."""
    counted = Counter(_called(difference, each) for each in found)
    return ", ".join(f"{counted[called]} {called}" for called in ("effect", *VERDICTS) if counted[called])


def summary(difference: Difference, findings: Iterable[Finding], beside: str = "") -> str:
    """The last line, which is always there. `beside`: what differs and was not asked for, in words: without it nobody
    may take the line for that of all that differs."""
    told = _counted(difference, findings)
    if told and difference.promise.is_open:
        told = f"no verdict: `compatible` of part 9 is not shown; {told}"
    return (told or ("nothing else differs" if beside else "nothing differs")) + (f"; {beside}" if beside else "")


def of_what(others: int, accepted: int) -> str:
    """How much differs beside what is told, since it concerns others or is accepted."""
    return ", ".join(f"{count} {what}" for count, what in ((others, "not asked for"), (accepted, "accepted")) if count)


def to_text(
    difference: Difference, findings: tuple[Finding, ...], everything: bool = False, named: bool = False,
    beside: str = "",
) -> str:  # fmt: skip
    """`named`: each with its fingerprint."""
    lines: list[str] = []
    for each in findings:
        if everything or _called(difference, each) not in FOLDED:
            lines += [*_told(difference, each), *([f"  = finding: {each.fingerprint}"] if named else []), ""]
    lines.append(summary(difference, findings, beside))
    return "\n".join(lines)


def _told(difference: Difference, each: Finding) -> Iterator[str]:
    yield f"{_called(difference, each)}: {each.said}"
    for word, span, source in (("was", each.old, difference.old), ("is", each.new, difference.new)):
        if span is not None:
            yield f"  {word:>3} {place_of(source, span)}   {line_of(source, span)}"
    yield f"  = for: {', '.join(each.audiences)}" + (f", at {_few(each)}" if each.endpoints or each.everywhere else "")
    no_verdict = difference.promise.is_open
    said = list(
        dict.fromkeys(one.said if no_verdict else f"{one.verdict}: {one.said}" for one in each.effects if one.said)
    )
    for one in said[:MOST_LINES]:
        yield f"  = {one}"
    if len(said) > MOST_LINES:
        yield f"  = and {len(said) - MOST_LINES} more"
    if each.uses:
        yield f"  = with {each.uses} uses of the name"
    yield from (f"  = {one}" for one in promised(difference, each))
    if each.witness is not None:
        first, was, now = _witness(each.witness)
        yield f"  = {first}"
        yield from (f"      {was}", f"      {now}")
    elif each.unsought and each.verdict not in FOLDED:
        yield f"  = {each.unsought}"
    elif each.told is not None and each.verdict not in FOLDED:
        yield f"  = no request shows it, of {each.told:,} that were told to both contracts"


def _witness(witness: Witness) -> tuple[str, str, str]:
    """A request, and what both answer."""
    by = f"   ({witness.by})" if witness.by else ""
    return f"shown by: {witness.request}{by}", f"was {witness.was}", f"is  {witness.now}"


def _called(difference: Difference, each: Finding) -> str:
    """Its verdict; where none is possible it is an effect."""
    return "effect" if difference.promise.is_open and each.verdict != "words" else each.verdict


def promised(difference: Difference, each: Finding) -> Iterator[str]:
    """What part 9 of the old contract says of it, and of its older versions."""
    promise = difference.promise
    for word in each.words:
        if promise.words is None:
            yield f"promise: `{word}`; nothing was promised beyond what a caller uses" if not promise.is_open else word
        else:
            at = "" if promise.span is None else f" ({place_of(difference.old, promise.span)})"
            yield f"promise: `{word}` is {'listed' if word in promise.words else 'not listed'} as compatible{at}"
    if each.verdict == "breaking" and not each.words and promise.words is not None:
        yield "promise: no word of `compatible` covers it"
    if each.kept is not None:
        who = f"{each.kept}, and for who names no version" if each.kept_by_default else each.kept
        yield f"kept for who names {who}: part 9 of the new contract has it as it was"
    if each.older and each.verdict not in FOLDED:
        yield f"{_HOW_OLDER[each.how_older]}: {', '.join(each.older)}"


_HOW_OLDER: Final[dict[HowOlder, str]] = {
    "too": "in older versions, too",
    "alone": "in older versions alone",
    "perhaps": "perhaps in older versions, too",
}


def _few(each: Finding) -> str:
    if each.everywhere and not each.endpoints:
        return "all endpoints"
    first = each.endpoints[:4]
    return ", ".join(first) + (f" and {len(each.endpoints) - 4} more" if len(each.endpoints) > 4 else "")


def place_of(source: Source, span: Span) -> str:
    return f"{source.name}:{source.place(span.start)}"


def line_of(source: Source, span: Span) -> str:
    line = source.line(source.place(span.start).line).strip()
    return line if len(line) <= 100 else f"{line[:99]}…"


def to_json(difference: Difference, each: Finding) -> dict[str, Any]:
    """One finding, for a line of its own."""
    return {
        "code": rule_of(_called(difference, each)),
        "verdict": None if difference.promise.is_open else each.verdict,
        "message": each.said,
        "part": each.part,
        "path": each.address,
        "for": list(each.audiences),
        "endpoints": list(each.endpoints),
        "everywhere": each.everywhere,
        "effects": [
            {
                "audience": one.audience,
                "verdict": None if difference.promise.is_open else one.verdict,
                "word": one.word,
                "message": one.said,
            }
            for one in each.effects
        ],
        "promise": [{"word": word, "listed": difference.promise.lists(word)} for word in each.words],
        "old": json_place(difference.old, each.old),
        "new": json_place(difference.new, each.new),
        "kept_by_version": each.kept,
        "kept_by_default": each.kept_by_default,
        "older_versions": list(each.older),
        "witness": None
        if each.witness is None
        else {
            "request": each.witness.request,
            "by": each.witness.by,
            "was": each.witness.was,
            "is": each.witness.now,
        },
        "requests_told": each.told,
        "fingerprint": each.fingerprint,
    }


def json_place(source: Source, span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    place = source.place(span.start)
    return {"file": source.name, "line": place.line, "column": place.column, "text": line_of(source, span)}


def to_markdown(difference: Difference, findings: tuple[Finding, ...], beside: str = "") -> str:
    """A heading with counts, a table, and what is compatible folded."""
    lines = [f"### Contract: {summary(difference, findings, beside)}", ""]
    shown = [each for each in findings if _called(difference, each) not in FOLDED]
    if shown:
        lines += ["| | what | who | where | line |", "|---|---|---|---|---|"]
        lines += [_row(difference, each) for each in shown]
        lines.append("")
        lines += _witnesses(shown)
    folded = [each for each in findings if _called(difference, each) in FOLDED]
    if folded:
        lines += [f"<details><summary>{_counted(difference, folded)}</summary>", ""]
        lines += [f"- {each.verdict}: {_cell(each.said)}" for each in folded]
        lines += ["", "</details>"]
    text, kept = "", 0
    for line in lines:
        if len(text) + len(line) > LARGEST:
            return f"{text}\n… and {len(lines) - kept} lines more: `ninefold diff` says them.\n"
        text, kept = f"{text}{line}\n", kept + 1
    return text


def _witnesses(shown: Iterable[Finding]) -> Iterator[str]:
    """Requests that show what is to be seen in the table, folded."""
    found = [(each.said, each.witness) for each in shown if each.witness is not None]
    if found:
        yield from ("<details><summary>requests that show it</summary>", "")
        for said, witness in found:
            request = f"{witness.request} ({witness.by})" if witness.by else witness.request
            yield f"- {_cell(said)}: {_cell(request)}"
            yield from (f"  - was {_cell(witness.was)}", f"  - is {_cell(witness.now)}")
        yield from ("", "</details>", "")


def _row(difference: Difference, each: Finding) -> str:
    source, span = (difference.new, each.new) if each.new is not None else (difference.old, each.old)
    at = "" if span is None else f"{source.name}:{source.place(span.start).line}"
    cells = (f"**{_called(difference, each)}**", each.said, ", ".join(each.audiences), _few(each), at)
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def of_audience(findings: Iterable[Finding], audience: Audience | None, part: int | None) -> tuple[Finding, ...]:
    """Those that concern one audience, as they do, or one part."""
    found = [each for each in findings if part is None or each.part == part]
    if audience is None:
        return tuple(found)
    return in_order(own for each in found if (own := each.for_audience(audience)) is not None)


_LEVELS: Final[dict[str, Level]] = {
    "effect": "warning",
    "breaking": "error",
    "look": "warning",
    "opens": "warning",
    "compatible": "note",
    "words": "note",
}
_TITLES: Final = {
    "effect": "A change of which no promise says whether it may be",
    "breaking": "A change breaks what somebody relies on",
    "look": "A change that nobody has proved to be compatible",
    "opens": "Somebody sees or may do more than before",
    "compatible": "A change that part 9 calls compatible",
    "words": "Words are others, and nothing that the service does",
}


def rule_of(called: str) -> str:
    """By what programs know findings of a kind, in JSON and in SARIF."""
    return f"diff-{called}"


def results(difference: Difference, findings: Iterable[Finding]) -> Iterator[Result]:
    """For tools that show findings at the lines of the new contract."""
    for each in findings:
        verdict = _called(difference, each)
        rule = Rule(rule_of(verdict), _TITLES[verdict], _LEVELS[verdict], f"{_TITLES[verdict]}. See docs/diff.md.")
        lines = [each.said, *dict.fromkeys(f"{one.audience}: {one.said}" for one in each.effects if one.said)]
        if each.old is not None:
            lines.append(f"was {place_of(difference.old, each.old)}: {line_of(difference.old, each.old)}")
        lines += () if each.witness is None else _witness(each.witness)
        span = each.new if each.new is not None else Span(0, 0)
        was = () if each.old is None else (Label(each.old, "as it was"),)
        yield Result(rule, "\n".join(lines), span, fingerprint=each.fingerprint, beside=was)
