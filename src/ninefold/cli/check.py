"""`ninefold check FILE`"""

from __future__ import annotations

import sys
from typing import Literal

from ninefold.cli.contract_file import load
from ninefold.cli.parameter import AcceptProposals, File
from ninefold.cli.sarif import say_sarif
from ninefold.cli.terminal import say, show
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diagnostics.render import to_json_lines, visible
from ninefold.diagnostics.sarif import result_of
from ninefold.language.fact import value_of
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
    they block is said in a last line. A note names a fact that is stated and that this build does not put in force.

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
        sys.stdout.write(to_json_lines(loaded.diagnostics, loaded.source))
    elif format == "sarif":
        say_sarif(map(result_of, loaded.diagnostics), loaded.source)
    else:
        show(loaded.diagnostics, loaded.source, sys.stdout)
        if not loaded.diagnostics:
            say(f"{visible(loaded.source.name)}: nothing is wrong")
        endpoints = value_of(loaded.contract.endpoints.endpoints) or ()
        blocked = blocked_in_words(loaded.open_questions, [each.key for each in endpoints])
        if blocked and not has_errors(loaded.diagnostics):
            say(f"{blocked} by what is not shown: ninefold gaps {visible(file)}")
    return 1 if has_errors(loaded.diagnostics) else 0
