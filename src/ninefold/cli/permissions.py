"""`ninefold permissions FILE`"""

from __future__ import annotations

from typing import Annotated, Literal, assert_never

from ninefold.cli.commands import AcceptProposals, File, Parameter
from ninefold.cli.document import errors_of, load
from ninefold.cli.terminal import say_json, say_visibly
from ninefold.tools.permissions.matrix import Matrix, Verdict, matrix
from ninefold.tools.permissions.render import to_json, to_markdown, to_text


def permissions(
    file: File,
    /,
    *,
    format: Literal["text", "markdown", "json"] = "text",
    lines: Annotated[bool, Parameter(show_default=False)] = True,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Show who may do what.

    For each endpoint and each kind of caller: whether it is admitted and on which condition, which rows of each
    resource that the endpoint reaches such a caller sees, and in which states the row may be. All of it as the
    contract states it, with lines; the same contract gives the same text, so that a review can read what a change of
    the contract changes.

    Exit status: 0, or 1 if the contract has errors or does not show who may call an endpoint.

        ninefold permissions contract.md
        ninefold permissions contract.md --format markdown > PERMISSIONS.md
        diff <(ninefold permissions old.md --no-lines) <(ninefold permissions new.md --no-lines)

    Parameters
    ----------
    format
        `markdown` is three tables: who may call, which rows they see, what may be done in which state.
    lines
        `--no-lines` leaves the lines out, which a word of prose would move.
    """
    loaded = load(file, accept_proposals)
    errors_of(loaded)
    found = matrix(loaded.contract, loaded.checked)
    match format:
        case "text":
            say_visibly(to_text(found, lines))
        case "markdown":
            say_visibly(to_markdown(found, lines))
        case "json":
            say_json(to_json(found, lines))
        case _:
            assert_never(format)
    return 1 if found.wrong or _is_open(found) else 0


def _is_open(found: Matrix) -> bool:
    return any(cell.verdict is Verdict.NOT_SHOWN for line in found.lines for cell in line.cells)
