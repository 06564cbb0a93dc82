"""`ninefold schema [PART]`"""

from __future__ import annotations

import msgspec

from ninefold.cli.terminal import Unusable, say
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.syntax.nodes import PARTS, TITLES, heading
from ninefold.tools.editor_schema import block_of, plain_form


def schema(part: str | None = None, /) -> int:
    """Print a JSON Schema for editors.

    The schema of a contract in the plain form, or of the `yaml` blocks of one part. It gives completion, hover texts
    and marks for what is misspelt; `ninefold check` says what else is wrong. Draft 7, for the YAML extension of
    VS Code and for others that run the YAML language server.

        ninefold schema > contract.schema.json
        ninefold schema endpoints

    Parameters
    ----------
    part
        A part by its name, its number or its heading: `endpoints`, `4`.
    """
    found = plain_form() if part is None else block_of(_number(part))
    say(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    return 0


def _number(part: str) -> int:
    """Which part is meant, counted from 1. Raises Unusable."""
    found = heading(part).part
    if found:
        return found
    help = did_you_mean(part, PARTS) or did_you_mean(part, TITLES) or (f"the parts are {', '.join(PARTS)}",)
    raise Unusable(f"there is no part {part}", *help)
