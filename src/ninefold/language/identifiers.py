"""What may be the name of something that expressions read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from ninefold.diagnostics.codes import NOT_A_NAME, RESERVED_NAME
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.tokens import KEYWORDS, RESERVED
from ninefold.language.conditions import PLACES
from ninefold.language.reading import Reading, quoted
from ninefold.syntax.nodes import Scalar

ROOTS: Final = frozenset(
    ["now", "value", "caller", "request", "page", "error", "claims", "issued", "granted", "operator", "before", "all"]
)
"""What an expression can read, or call, besides the resource by its own name."""

RESOURCE_NAMES: Final = ROOTS | {"types", "terms", "anyone", *PLACES, "body"}
"""Names that no resource can have."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CEL: Final = RESERVED | KEYWORDS


def _of_other_letter(key: Scalar) -> Label:
    """Where a name is none; of one with a letter that may look like another it is told which letter that is."""
    at = next((at for at, char in enumerate(key.text) if not char.isascii() and char.isalpha()), None)
    if at is None:
        return Label(key.span)
    char = key.text[at]
    return Label(key.part(at, at + 1), f"U+{ord(char):04X}, {unicodedata.name(char, 'a letter')}")


def declare(r: Reading, key: Scalar, what: str, taken: Collection[str] = (), selected: bool = False) -> None:
    """Says whether a name cannot be one. `what` it would name, `taken` are the names that such a thing cannot have.
    `selected`: it is only read behind a dot (`order.package`), where CEL's reserved words are names too."""
    name = key.text
    of = f".{name}" if selected else name
    if not _IDENTIFIER.fullmatch(name):
        meant = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        help = f"write `{meant}`" if _IDENTIFIER.fullmatch(meant) else "a name is letters, digits and underscores"
        r.say(NOT_A_NAME, f"{quoted(name)} cannot be the name of {what}", _of_other_letter(key), help=(help,), of=of)
    elif name in (KEYWORDS if selected else _CEL):
        r.say(
            RESERVED_NAME,
            f"`{name}` is a word of CEL, and cannot be the name of {what}",
            Label(key.span),
            help=(f"choose another name, such as `{name}_`",),
            of=of,
        )
    elif name in taken:
        r.say(
            RESERVED_NAME,
            f"`{name}` is a word of the language, and cannot be the name of {what}",
            Label(key.span),
            help=("choose another name",),
            of=of,
        )
