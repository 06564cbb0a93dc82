"""`ninefold explain FILE [ENDPOINT]`, `ninefold explain FILE --response ID`, `ninefold explain CODE` and
`ninefold explain KEY`"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Literal

from ninefold.cli.commands import AcceptProposals, InVersion, Parameter, option
from ninefold.cli.terminal import Unusable, is_coloured, say, width
from ninefold.diagnostics.codes import CODES
from ninefold.diagnostics.diagnostic import Code, Severity
from ninefold.diagnostics.explanations import explanation
from ninefold.diagnostics.suggest import did_you_mean

WIDTH = 100
"""Columns of what is said of a word."""

MEANINGS = {
    Severity.ERROR: "An error: a contract that has it is not served.",
    Severity.WARNING: "A warning: a contract that has it is served, and probably says something else than was meant.",
    Severity.NOTE: "A note: a contract that has it is served.",
}


def explain(
    subject: Annotated[str, Parameter(allow_leading_hyphen=True)],
    endpoint: str | None = None,
    /,
    *,
    response: str | None = None,
    version: InVersion = None,
    format: Literal["text", "json", "markdown"] = "text",
    all: Annotated[bool, option()] = False,
    statements: Annotated[bool, option()] = False,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Explain an endpoint, a whole service, one response, a diagnostic by its code, or a word of the language.

    Of an endpoint, what decides it, each fact with its line, and its errors in the order in which they count. Of a
    service, the nine parts in one page. Of a response, what caused its status, its headers, each member of its body
    and its events, line by line. Of a word, what the reference says of it. Works on half-written contracts, too.

    Exit status: 0, 1 if the contract has errors, 2 if there is no such file, endpoint, code or word.

        ninefold explain contract.md
        ninefold explain contract.md "POST /orders" --all
        ninefold explain contract.md --response 2.q7Rk0w3Z.nAAAAQ.f3Kd
        ninefold explain NF0403
        ninefold explain "on delete"

    Parameters
    ----------
    subject
        The contract, Markdown or YAML (`-` is standard input), or a diagnostic's code as it stands in brackets
        behind `error`, `warning` or `note` (`nf403` means the same), or a key (`pages`, `RESOURCE.unique`), a verb, a
        condition, a function (`sortBy`) or a meaning.
    endpoint
        A method and a path, as the contract writes it (`GET /orders/{id}`) or as a request would have it.
    response
        What a response carries in its header `Ninefold-Trace`, under `ninefold serve --trace` and in `ninefold dev`.
        It has to be a response of this contract as it stands.
    version
        A version of the contract: what decides it, and its endpoints, are as that version has them.
    format
        `json` is a stable form; `markdown` is for a page.
    all
        Not what fits one screen, but everything that decides the endpoint; of a response, the meanings as well.
    statements
        All of it, with the SQL of the endpoint.
    """
    if endpoint is None and response is None and _is_code(subject):
        return _code(subject)
    from ninefold.cli.explanation import explain_contract

    return explain_contract(
        subject,
        endpoint,
        response=response,
        version=version,
        format=format,
        statements=statements,
        all=all,
        accept_proposals=accept_proposals,
    )


def _is_code(subject: str) -> bool:
    """Whether a code or a word is meant: what looks like a file, or is one, is a contract; a directory is none."""
    looks = subject != "-" and not re.search(r".[/\\]|[/\\].|\.(md|markdown|ya?ml)$", subject, re.IGNORECASE)
    return looks and (_normal(subject) in CODES or not Path(subject).exists() or Path(subject).is_dir())


def _code(subject: str) -> int:
    known: Code | None = CODES.get(_normal(subject))
    if known is None:
        if did_you_mean(_normal(subject), CODES):
            raise Unusable(f"there is no code {subject}", *did_you_mean(_normal(subject), CODES))
        return _word(subject)
    about = explanation(known.id)
    text = f"# {known.id}: {about.title}\n\n{MEANINGS[known.severity]}\n\n{about.markdown}\n"
    if is_coloured(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console(width=width()).print(Markdown(text))
    else:
        say(text)
    return 0


def _word(subject: str) -> int:
    """What the reference says of a key, a verb, a condition, a meaning or a function."""
    from ninefold.language.former import now
    from ninefold.tools.reference import as_text, asked_for, names

    found = asked_for(subject)
    if not found:
        known = list(dict.fromkeys(names()))
        help = (*now(subject),) or did_you_mean(subject, known)
        raise Unusable(f"there is neither a file nor a code nor a word {subject}", *help)
    for number, entry in enumerate(found):
        above = [meaning for each in found[:number] for meaning in each.meanings]
        for paragraph in (*[""] * bool(number), *as_text(entry, above)):
            say(textwrap.fill(paragraph, WIDTH, break_on_hyphens=False, break_long_words=False))
    if all(each.sort == "row" for each in found):
        for told in now(subject):
            say(f"\nIn contracts of an older version: {told}.")
    return 0


def _normal(code: str) -> str:
    found = re.fullmatch(r"\s*\[?(?:NF)?(\d{1,4})\]?\s*", code, re.ASCII | re.IGNORECASE)
    return f"NF{int(found[1]):04}" if found else code
