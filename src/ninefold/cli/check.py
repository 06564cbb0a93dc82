"""`ninefold check FILE`"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Literal
from urllib.parse import quote

import ninefold
from ninefold.cli.commands import AcceptProposals, File
from ninefold.cli.document import load
from ninefold.cli.terminal import say, say_json, show
from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label, Severity, has_errors
from ninefold.diagnostics.render import to_json_lines, visible
from ninefold.diagnostics.sarif import Result, Rule, Tool, result_of, to_sarif
from ninefold.diagnostics.source import Source
from ninefold.language.fact import value_of
from ninefold.language.verbs import kind_of
from ninefold.pipeline import Loaded
from ninefold.tools.gaps import blocked_in_words


def check(
    file: File,
    /,
    *,
    format: Literal["text", "json", "sarif"] = "text",
    accept_proposals: AcceptProposals = False,
) -> int:
    """Say what is wrong with a contract.

    Everything at once, each finding with its place. Gaps are no errors: `ninefold gaps` lists them; how many endpoints
    they block is said in a last line, and which, in the other formats. A note names a fact that is stated and that this
    build does not put in force. Of each `put` it is said what becomes of the outcomes that its responses leave out.

    Exit status: 0 if there is no error (warnings and notes alone are 0), 1 if there is one, 2 if the file cannot
    be read.

        ninefold check contract.md
        ninefold check contract.md --format json | jq .message
        ninefold check contract.md --format sarif > findings.sarif

    Parameters
    ----------
    format
        `json` gives one object a finding, each on a line of its own; `sarif` is for tools that show findings at
        their lines.
    """
    loaded = load(file, accept_proposals)
    if format == "json":
        sys.stdout.write(to_json_lines((*loaded.diagnostics, *_blocked(loaded)), loaded.source))
    elif format == "sarif":
        rule = Rule(BLOCKED.id, "An endpoint is blocked", BLOCKED.severity.value, "`ninefold gaps FILE` says by what.")
        of_endpoints = (Result(rule, each.message, each.span) for each in _blocked(loaded))
        say_sarif((*map(result_of, loaded.diagnostics), *of_endpoints), loaded.source)
    else:
        show(loaded.diagnostics, loaded.source, sys.stdout)
        if not loaded.diagnostics:
            say(f"{visible(loaded.source.name)}: nothing is wrong")
        endpoints = value_of(loaded.contract.endpoints.endpoints) or ()
        blocked = blocked_in_words(loaded.open_questions, [*dict.fromkeys(each.key for each in endpoints)])
        if not has_errors(loaded.diagnostics):
            for line in _of_puts(loaded):
                say(line)
            if blocked:
                say(f"{blocked} by what is not shown: ninefold gaps {visible(file)}")
    return 1 if has_errors(loaded.diagnostics) else 0


def _of_puts(loaded: Loaded) -> Iterable[str]:
    """What becomes of the outcomes that a `put` leaves out. Who tells that knows plans, and is loaded where one is."""
    endpoints = value_of(loaded.contract.endpoints.endpoints) or ()
    if not any(kind_of(each.verb).outcomes for endpoint in endpoints for each in value_of(endpoint.does) or ()):
        return ()
    from ninefold.tools.explain.grounds import Grounds
    from ninefold.tools.explain.refusals import of_puts

    return of_puts(Grounds(loaded))


BLOCKED = Code("blocked", Severity.NOTE)
"""What is no finding in the contract, and stands beside these where programs read them."""


def _blocked(loaded: Loaded) -> Iterator[Diagnostic]:
    """The endpoints that open questions block, where the contract has no errors."""
    if has_errors(loaded.diagnostics):
        return
    for endpoint in value_of(loaded.contract.endpoints.endpoints) or ():
        asked = [each.text for each in loaded.open_questions if endpoint.key in each.blocks]
        if asked:
            yield Diagnostic(
                BLOCKED, f"{endpoint.key} is blocked, not shown: {'; '.join(asked)}", (Label(endpoint.span, ""),)
            )


def say_sarif(results: Iterable[Result], source: Source, beside: Source | None = None) -> None:
    """A SARIF log on standard output. `beside`: what the document is compared with."""
    other = None if beside is None else (beside, uri(beside.name))
    say_json(to_sarif(results, source, Tool("ninefold", ninefold.__version__), uri(source.name), other))


def uri(name: str) -> str:
    """A file's name as a URI reference (RFC 3986, RFC 8089): relative as it was given, or `file:///…`."""
    return Path(name).as_uri() if PurePath(name).is_absolute() else quote(PurePath(name).as_posix())
