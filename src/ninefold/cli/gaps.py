"""`ninefold gaps FILE`"""

from __future__ import annotations

import sys
from typing import Literal

import msgspec

from ninefold.cli.contract_file import AcceptProposals, File, load
from ninefold.cli.terminal import say, show
from ninefold.diagnostics.diagnostic import Severity, has_errors
from ninefold.gaps import to_json, to_text


def gaps(file: File, /, *, format: Literal["text", "json"] = "text", accept_proposals: AcceptProposals = False) -> int:
    """Show what a contract leaves open.

    The nine parts at a glance, then each open question with its place and with what its silence costs, those first
    that block an endpoint. Works on half-written contracts too; errors in them go to standard error.

    Exit status: 0 if every question is answered, 1 if one is open or the contract has errors, 2 if the file cannot
    be read.

        ninefold gaps contract.md
        ninefold gaps contract.md --format json | jq '.gaps[].question'
    """
    loaded = load(file, accept_proposals)
    errors = [found for found in loaded.diagnostics if found.code.severity is Severity.ERROR]
    show(errors, loaded.source, sys.stderr)
    if format == "json":
        say(
            msgspec.json.format(msgspec.json.encode(to_json(loaded.contract, loaded.open_questions)), indent=2).decode()
        )
    else:
        say(to_text(loaded.contract, loaded.open_questions))
    return 1 if loaded.open_questions or has_errors(loaded.diagnostics) else 0
