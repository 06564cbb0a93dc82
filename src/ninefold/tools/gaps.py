"""Nine parts at a glance, and the open questions of a contract: as data, as JSON, as text, as results for SARIF."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from ninefold.contract.questions.ask import accepted_proposals, in_order, is_proposed, shows_nothing
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.sarif import Level, Result, Rule
from ninefold.diagnostics.source import Source, Span
from ninefold.language.fact import value_of
from ninefold.language.question import OpenQuestion, Question
from ninefold.language.shapes import describe
from ninefold.syntax.nodes import TITLES, Part, Word
from ninefold.tools.answers import example, keys_answering

Answer: TypeAlias = Literal["shown", "none", "partly", "proposed", "prose only", "not shown"]
"""How a part answers:

- `shown`: it holds facts, and none of its questions is open.
- `none`: it states `none` for the whole part.
- `partly`: it holds facts, and a question is open of which nothing is proposed.
- `proposed`: its only open questions have a proposal, or proposals have been accepted in it.
- `prose only`: it holds prose, no fact and no statement (parts 2 to 9; the prose of part 1 is its answer).
- `not shown`: it says so, or holds nothing, or has no heading.
"""

WIDTH = 100
"""Columns of the text."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """How one of the nine parts answers. `prose`: where its prose stands, if it holds prose alone."""

    number: int
    name: str
    answer: Answer
    prose: tuple[Span, ...] = ()


def parts_at_a_glance(contract: Contract, open: Iterable[OpenQuestion]) -> tuple[PartAnswer, ...]:
    """How each part answers; `open` is what `questions.ask` gave for the contract."""
    by_part: dict[int, list[OpenQuestion]] = {}
    for each in open:
        by_part.setdefault(each.question.part, []).append(each)
    answers, proposed = [], is_proposed(contract)
    for part in contract.document.parts:
        accepted = proposed and any(accepted_proposals(getattr(contract, part.name)))
        answer = _answer(part, by_part.get(part.number, ()), accepted)
        prose = part.prose if answer == "prose only" else ()
        answers.append(PartAnswer(part.number, part.name, answer, prose))
    return tuple(answers)


def _answer(part: Part, open: Sequence[OpenQuestion], accepted: bool) -> Answer:
    if part.number == 1:
        said_none = part.statement is not None and part.statement.word is Word.NONE
        return "not shown" if open else "none" if said_none else "shown"
    if not part.facts.entries:
        if part.statement is not None:
            return "none" if part.statement.word is Word.NONE else "not shown"
        return "prose only" if part.prose else "not shown"
    if any(not each.candidate for each in open):
        return "partly"
    if open or accepted or shows_nothing(part):
        return "proposed"
    return "shown"


def to_json(contract: Contract, open: Iterable[OpenQuestion], errors: int = 0) -> dict[str, Any]:
    """The form of `ninefold gaps --format json`. Lines and columns count from 1, columns in code points. `errors`: how
    many the contract has; with one, it is not complete, and nothing of it is served."""
    gaps = in_order(open)
    source = contract.document.source
    return {
        "contract": source.name,
        "complete": not gaps and not errors,
        "errors": errors,
        "parts": [
            {"number": part.number, "name": part.name, "answer": part.answer}
            for part in parts_at_a_glance(contract, gaps)
        ],
        "gaps": [_gap(each, source.place(each.span.start)) for each in gaps],
    }


def _gap(each: OpenQuestion, place: Place) -> dict[str, Any]:
    return {
        "part": each.question.part,
        "subject": each.subject,
        "question": each.text,
        "line": place.line,
        "column": place.column,
        "effect": each.effect,
        "blocks": list(each.blocks),
    }


def to_text(contract: Contract, open: Iterable[OpenQuestion], errors: int = 0) -> str:
    """The same for a terminal, without colour, ending with one line that sums it up. `errors`: how many the contract
    has; with one, nothing of it is served."""
    gaps = in_order(open)
    source = contract.document.source
    title = contract.document.title
    lines = [f"{source.name}: {title}" if title else source.name, ""]
    lines += _glance(source, parts_at_a_glance(contract, gaps))
    endpoints = tuple(dict.fromkeys(endpoint.key for endpoint in value_of(contract.endpoints.endpoints) or ()))
    for effect, heading in (("blocks", "What blocks"), ("leaves out", "What leaves something out")):
        group = tuple(each for each in gaps if each.effect == effect)
        if group:
            lines += ["", heading]
            lines += [line for each in group for line in ("", *_open(source, each, endpoints))]
    return "\n".join([*lines, "", _summary(gaps, endpoints, errors), ""])


def _glance(source: Source, parts: Iterable[PartAnswer]) -> Iterable[str]:
    widest = max(map(len, TITLES))
    for part in parts:
        line = f"  {part.number}  {TITLES[part.number - 1]:{widest}}  {part.answer}"
        yield line + (f", {_lines(source, part.prose)}" if part.prose else "")


def _lines(source: Source, spans: Sequence[Span]) -> str:
    """`line 7`, or `lines 7 to 12`."""
    first = source.place(spans[0].start).line
    last = source.place(max(spans[-1].start, spans[-1].end - 1)).line
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _open(source: Source, each: OpenQuestion, endpoints: Sequence[str]) -> Iterable[str]:
    place = str(source.place(each.span.start))
    proposed = " (something is proposed)" if each.candidate else ""
    question = f"part {each.question.part}: {each.text}{proposed}"
    indent = " " * 11
    yield from textwrap.wrap(question, WIDTH, initial_indent=f"  {place:>7}  ", subsequent_indent=indent)
    yield from textwrap.wrap(_cost(each, endpoints), WIDTH, initial_indent=indent, subsequent_indent=indent)


def _cost(each: OpenQuestion, endpoints: Sequence[str]) -> str:
    """What the silence costs, in words."""
    left_out = f"leaves out {each.left_out}" if each.left_out else ""
    if each.effect == "leaves out":
        return left_out or "costs nothing that a caller sees"
    if not each.blocks:
        cost = of_subject(each)
        return f"blocks {cost}; there is none yet" if endpoints else f"blocks {cost}"
    if {*each.blocks} == {*endpoints}:
        blocked = f"blocks every endpoint ({len(endpoints)})" if len(endpoints) > 1 else f"blocks {endpoints[0]}"
    else:
        blocked = "blocks " + ", ".join(each.blocks)
    return f"{blocked}; {left_out}" if left_out else blocked


def of_subject(each: OpenQuestion) -> str:
    """What a gap blocks in general, said of its subject: the table has a letter there."""
    letter, _, _ = each.question.of.partition(".")
    subject = each.subject.partition(".")[0] if letter != each.question.of else each.subject
    return re.sub(rf"\b{letter}\b", lambda _: f"`{subject}`", each.question.cost) if letter else each.question.cost


def _summary(gaps: Sequence[OpenQuestion], endpoints: Sequence[str], errors: int) -> str:
    if errors:
        wrong = "1 error" if errors == 1 else f"{errors} errors"
        count = "1 question is" if len(gaps) == 1 else f"{len(gaps) or 'no'} questions are"
        return f"The contract has {wrong}, so nothing of it is served; {count} open."
    if not gaps:
        return "Complete: every question that is asked has its answer."
    count = "1 question is open" if len(gaps) == 1 else f"{len(gaps)} questions are open"
    if not endpoints:
        return f"{count}; there is no endpoint to serve."
    return f"{count}; {blocked_in_words(gaps, endpoints) or 'no endpoint is blocked'}."


def blocked_in_words(gaps: Iterable[OpenQuestion], endpoints: Sequence[str]) -> str:
    """How many of the endpoints open questions block, and how many that only older versions have; empty: none."""
    blocked = {key for each in gaps for key in each.blocks}
    own, older = len(blocked.intersection(endpoints)), len(blocked.difference(endpoints))
    found = [f"{own} of {len(endpoints)} endpoints"] if own else []
    if older:
        has = "an older version has" if older == 1 else "older ones have"
        found.append(f"{older}{'' if own else ' endpoint' if older == 1 else ' endpoints'} that only {has}")
    return f"{' and '.join(found)} {'is' if own + older == 1 else 'are'} blocked" if found and endpoints else ""


def to_results(open: Iterable[OpenQuestion]) -> tuple[Result, ...]:
    """The open questions as results, each question a rule: a warning where it blocks an endpoint, else a note."""
    return tuple(_result(each) for each in in_order(open))


def _result(each: OpenQuestion) -> Result:
    level: Level = "warning" if each.effect == "blocks" else "note"
    lines = [f"not shown: {each.text}"]
    if each.blocks:
        lines.append(f"blocks {', '.join(each.blocks)}")
    if each.left_out:
        lines.append(f"leaves out {each.left_out}")
    rule = Rule(f"gap/{each.question.id.replace(' ', '-')}", each.question.in_general, level, _help(each.question))
    return Result(rule, "\n".join(lines), each.span)


def _help(question: Question) -> str:
    """What a gap costs, and how an answer is written, in Markdown."""
    lines = [f"Asked in part {question.part}. A gap {question.effect} {question.cost}."]
    lines += [f"- `{key.path}` is {describe(key.shape)}: {key.meaning}" for key in keys_answering(question)]
    shown = example(question)
    return "\n".join([*lines, *(["", "For example:", "", "```yaml", shown, "```"] if shown is not None else [])])
