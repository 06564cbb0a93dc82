"""`ninefold propose FILE`"""

from __future__ import annotations

import sys

from ninefold.cli.contract_file import compiled, read_bytes
from ninefold.cli.parameter import File
from ninefold.cli.rewriting import Write, rewrite
from ninefold.cli.terminal import remark, show
from ninefold.diagnostics.diagnostic import Severity, has_errors
from ninefold.diagnostics.render import visible
from ninefold.tools.propose import propose as proposals


def propose(file: File, /, *, write: Write = False) -> int:
    """Put into a contract what conventions say to its open questions.

    Each proposal is marked as one (`!proposed`, or a block fenced `yaml proposed`) and names its source in a comment.
    It is no fact: `ninefold accept` makes it one, and `ninefold serve --accept-proposals` tries it. What no convention
    knows stays open: what the service is, who may call, which rows callers see. Nothing else in the document is
    touched, not a byte, and proposing twice adds nothing.

    Prints a unified diff, which `patch` takes, unless told to write.

    Exit status: 0, or 1 if the contract has errors, 2 if the file cannot be read or written.

        ninefold propose contract.md
        ninefold propose contract.md --write
        ninefold serve contract.md --accept-proposals
    """
    data = read_bytes(file)
    loaded = compiled(file, data, accept_proposals=True)
    if has_errors(loaded.diagnostics):
        errors = [found for found in loaded.diagnostics if found.code.severity is Severity.ERROR]
        show(errors, loaded.source, sys.stderr)
        return 1
    outcome = proposals.propose(loaded)
    rewrite(file, data, loaded.source.text, outcome.text, write)
    for answer in outcome.answers:
        remark(visible(f"proposed: {answer.in_words}"))
    for question in outcome.open:
        remark(visible(f"left open: part {question.question.part}: {question.text}"))
    if not outcome.answers:
        remark("nothing is proposed: no open question has a convention")
    return 0
