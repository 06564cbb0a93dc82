"""`ninefold plan FILE`"""

from __future__ import annotations

import sys
from typing import Literal

import msgspec

from ninefold.cli.contract_file import load
from ninefold.cli.listing import listing
from ninefold.cli.parameter import AcceptProposals, File
from ninefold.cli.terminal import remark, say, show
from ninefold.diagnostics.diagnostic import Severity


def plan(file: File, /, *, format: Literal["text", "json"] = "text", accept_proposals: AcceptProposals = False) -> int:
    """Show what would be served, statements included.

    The tables as they would be made; each endpoint with what it runs for each kind of caller, piece by piece, and
    the conditions that refuse it. A piece in brackets takes part where the request gives what is named in front of
    it. The JSON is the whole plan, as the server takes it.

    Exit status: 0, or 1 if the contract has errors or leaves nothing to serve.

        ninefold plan contract.md | less
        ninefold plan contract.md --format json > plan.json
    """
    loaded = load(file, accept_proposals)
    show((found for found in loaded.diagnostics if found.code.severity is Severity.ERROR), loaded.source, sys.stderr)
    if loaded.plan is None:
        return 1
    if format == "json":
        say(msgspec.json.format(msgspec.json.encode(loaded.plan), indent=2).decode())
    else:
        say(listing(loaded.plan))
    if not loaded.plan.routes:
        remark("there is nothing to serve: ninefold gaps says why")
        return 1
    return 0
