"""The open questions of a contract as a letter to its owner, in Markdown: each with its place, with what it costs,
and with how an answer is written.

The letter asks, and proposes nothing. Its examples are those of the blank contract, about a service that keeps notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ninefold.contract.questions.ask import in_order, shows_nothing
from ninefold.contract.service import Contract
from ninefold.language.fact import value_of
from ninefold.language.key import Key
from ninefold.language.question import OpenQuestion
from ninefold.language.shapes import Members, describe
from ninefold.syntax.nodes import NUMBERED_TITLES
from ninefold.tools.answers import example, keys_answering
from ninefold.tools.gaps import of_subject

MOST_KEYS = 8
"""Keys that are listed for one question; a part has its own table in the reference."""


def letter(contract: Contract, open: Iterable[OpenQuestion], endpoint: str | None = None, errors: int = 0) -> str:
    """The letter. `open`: the questions to ask; `endpoint`: they are those of that endpoint alone. `errors`: how many
    the contract has, which `ninefold check` lists."""
    questions = in_order(open)
    endpoints = tuple(dict.fromkeys(each.key for each in value_of(contract.endpoints.endpoints) or ()))
    lines = [f"# {_heading(contract, endpoint)}", "", *_opening(contract, questions, endpoints, endpoint)]
    if errors:
        count = "one error" if errors == 1 else f"{errors} errors"
        lines += [
            "",
            f"The contract has {count}, which `ninefold check` lists: nothing of it is served while it has any.",
        ]
    number = 0
    for effect, heading in (("blocks", "What keeps endpoints from being served"), ("leaves out", "What is left out")):
        group = [each for each in questions if each.effect == effect]
        if group:
            lines += ["", f"## {heading}"]
        for each in group:
            number += 1
            lines += ["", *_question(number, each, contract, endpoints)]
    return "\n".join([*lines, *_closing(contract, questions), ""])


def _heading(contract: Contract, endpoint: str | None) -> str:
    about = _line(contract.document.title) or contract.document.source.name
    return f"Open questions about {_code(endpoint)}: {about}" if endpoint else f"Open questions: {about}"


def _opening(
    contract: Contract, questions: Sequence[OpenQuestion], endpoints: Sequence[str], endpoint: str | None
) -> Iterator[str]:
    name = _code(contract.document.source.name)
    if not questions:
        about = f" about {_code(endpoint)}" if endpoint else ""
        yield f"The contract {name} answers every question that is asked{about}."
        return
    count = "one question" if len(questions) == 1 else f"{len(questions)} questions"
    blocked = {key for each in questions for key in each.blocks}
    if endpoint or not endpoints:
        cost = "" if endpoint else " It shows no endpoint yet, so there is nothing to serve."
    elif not blocked:
        cost = " Every endpoint is served all the same."
    elif len(blocked) == len(endpoints):
        cost = " No endpoint is served."
    else:
        cost = f" Of {len(endpoints)} endpoints {len(blocked)} {_is(len(blocked))} not served."
    yield f"The contract {name} leaves {count} open{' here' if endpoint else ''}.{cost}"
    yield "Nothing is assumed in the place of an answer: what depends on one waits for it."
    yield ""
    yield "Each question says where its answer is missing, what that costs, and how an answer is written. The"
    yield "examples are from another service, which keeps notes; they show the form and suggest nothing. `none` is an"
    yield "answer too, wherever the service has none of it. A word in capitals stands for a name of the contract's own,"
    yield "as RESOURCE does in `RESOURCE.primary key`."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _question(number: int, each: OpenQuestion, contract: Contract, endpoints: Sequence[str]) -> Iterator[str]:
    part = contract.document.parts[each.question.part - 1]
    whole = shows_nothing(part)
    place = contract.document.source.place(each.span.start)
    text = _line(each.text)
    yield f"### {number}. {text[:1].upper()}{text[1:]}"
    yield ""
    title = NUMBERED_TITLES[each.question.part - 1].replace(". ", ", ", 1)
    yield f"- **Where:** line {place.line}, column {place.column}, in part {title}."
    yield f"- **What it costs:** {_cost(each, endpoints)}"
    if each.candidate:
        yield "- **Proposed:** something is proposed there, and counts only once it is accepted."
    keys = () if whole else _keys(keys_answering(each.question))
    if keys:
        yield "- **How it is answered:** by " + ("this key:" if len(keys) == 1 else "one or several of these keys:")
        yield from (f"  - {_key(key)}" for key in keys)
    elif each.question.id == "written":
        yield "- **How it is answered:** by the fact itself, or `none`, in the place of `not shown`."
    elif each.question.part == 1:
        yield "- **How it is answered:** by a few sentences."
    else:
        yield "- **How it is answered:** by facts in a block fenced `yaml`, or by a sentence that ends in `: none.`"
    if (shown := example(each.question, whole)) is not None:
        fence = "" if each.question.part == 1 else "yaml"
        yield from ("", "  For example, of notes:", "", f"  ```{fence}")
        yield from (f"  {line}" if line else "" for line in shown.splitlines())
        yield "  ```"


def _keys(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """The keys to tell of: not a mapping beside the one key in it that answers."""
    match keys:
        case [outer, inner] if inner.parent == outer.path and isinstance(outer.shape, Members):
            return (inner,)
        case _:
            return keys[:MOST_KEYS]


def _key(key: Key) -> str:
    meaning = key.meaning[:1].lower() + key.meaning[1:] if key.meaning[1:2].islower() else key.meaning
    return f"`{key.path}` is {describe(key.shape)}: {meaning}"


def _cost(each: OpenQuestion, endpoints: Sequence[str]) -> str:
    left_out = f"the service leaves out {_line(each.left_out)}" if each.left_out else ""
    if each.effect == "leaves out":
        return f"{left_out}." if left_out else "nothing that a caller sees."
    if not each.blocks:
        blocked = f"it blocks {_line(of_subject(each))}" + ("; there is none yet" if endpoints else "")
    elif len(each.blocks) == len(endpoints) > 1:
        blocked = f"none of the {len(endpoints)} endpoints is served"
    elif len(each.blocks) == 1:
        blocked = f"{_code(each.blocks[0])} is not served"
    else:
        blocked = f"{', '.join(map(_code, each.blocks))} are not served"
    return f"{blocked}; {left_out}." if left_out else f"{blocked}."


def _closing(contract: Contract, questions: Sequence[OpenQuestion]) -> Iterator[str]:
    if questions:
        yield ""
        yield "---"
        yield ""
        yield f"The answers belong in {_code(contract.document.source.name)}; `ninefold gaps` then says what is left."


def _line(text: str) -> str:
    """Text of a document on one line: a name may hold line breaks, a letter's heading may not."""
    return " ".join(text.split())


def _code(text: str) -> str:
    """A code span; one that holds a backtick has longer delimiters (CommonMark 0.31, 6.1)."""
    line = _line(text)
    return f"`` {line} ``" if "`" in line else f"`{line}`"
