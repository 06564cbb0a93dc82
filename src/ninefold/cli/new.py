"""`ninefold new [FILE]`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from ninefold.cli.parameter import Parameter
from ninefold.cli.terminal import Unusable, say
from ninefold.pipeline import compile_document
from ninefold.tools.blank import blank
from ninefold.tools.propose.propose import propose


def new(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)] = "contract.md",
    /,
    *,
    title: str = "Service Specification",
    proposed: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Write a blank contract.

    Nine parts, in which nothing is shown, each with a comment on what to write there. A file that is there is never
    overwritten.

        ninefold new
        ninefold new orders.md --title "Orders"
        ninefold new orders.md --proposed
        ninefold new - | less

    Parameters
    ----------
    file
        Where to write it; `-` prints it.
    title
        What the contract is called in its first line.
    proposed
        With what conventions say already, marked as proposed: `ninefold propose` adds more as the contract grows.
    """
    text = blank(title) if file == "-" else blank(title, file)
    if proposed:
        text = propose(compile_document("contract.md", text.encode(), accept_proposals=True)).text
    if file == "-":
        sys.stdout.write(text)
        return 0
    path = Path(file)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    except FileExistsError:
        raise Unusable(f"{file} is there already, and is not overwritten", "name another file, or - to print") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"{file} cannot be written: {reason(error)}") from None
    say(f"{file}: nine parts, none of them shown yet. See what is asked with: ninefold gaps {file}")
    return 0


def reason(error: OSError | ValueError) -> str:
    return (error.strerror or "it is no name of a file").lower() if isinstance(error, OSError) else str(error)
