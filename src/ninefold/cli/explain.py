"""`ninefold explain CODE`"""

from __future__ import annotations

import re
import sys

from rich.console import Console
from rich.markdown import Markdown

from ninefold.catalogue import CODES
from ninefold.cli.terminal import Unusable, is_coloured, say, width
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.suggest import did_you_mean

MEANINGS = {
    Severity.ERROR: "An error: a contract that has it is not served.",
    Severity.WARNING: "A warning: a contract that has it is served, and probably says something else than was meant.",
    Severity.NOTE: "A note: a contract that has it is served.",
}


def explain(code: str, /) -> int:
    """Explain a diagnostic by its code.

        ninefold explain NF0403

    Parameters
    ----------
    code
        As it stands in brackets behind `error`, `warning` or `note`; `nf403` means the same.
    """
    known = CODES.get(_normal(code))
    if known is None:
        raise Unusable(f"there is no code {code}", *did_you_mean(_normal(code), CODES))
    text = f"# {known.id}: {known.title}\n\n{MEANINGS[known.severity]}\n\n{known.explanation.strip()}\n"
    if is_coloured(sys.stdout):
        Console(width=width()).print(Markdown(text))
    else:
        say(text)
    return 0


def _normal(code: str) -> str:
    found = re.fullmatch(r"\s*\[?(?:NF)?(\d{1,4})\]?\s*", code, re.ASCII | re.IGNORECASE)
    return f"NF{int(found[1]):04}" if found else code
