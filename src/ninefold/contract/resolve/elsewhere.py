"""A key that its part does not have, and another one has, is told where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.diagnostics.codes import UNKNOWN_KEY
from ninefold.diagnostics.diagnostic import Diagnostic
from ninefold.diagnostics.frozen import replace
from ninefold.language.table import key_named
from ninefold.syntax.nodes import PARTS, Document


def placed(document: Document, said: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The same, with this help where it is one of these keys."""
    keys = {entry.key.span: entry.name for part in document.parts for entry in part.facts.entries}

    def told(each: Diagnostic) -> Diagnostic:
        name = keys.get(each.span) if each.code is UNKNOWN_KEY else None
        having = () if name is None else (at for at in enumerate(PARTS, 1) if key_named(at[0], "", name) is not None)
        help = tuple(f"`{name}` is a key of part {number}, {part}" for number, part in having)
        return replace(each, help=help) if help else each

    return tuple(map(told, said))
