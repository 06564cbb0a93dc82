"""Every kind of diagnostic, by its code."""

from __future__ import annotations

from ninefold.checks import codes as checks
from ninefold.diagnostics.diagnostic import Code
from ninefold.expressions import codes as expressions
from ninefold.language import codes as resolve
from ninefold.syntax import codes as syntax
from ninefold.upgrade import codes as upgrade
from ninefold.versions import codes as versions

TABLES: tuple[tuple[Code, ...], ...] = (
    syntax.CODES,
    resolve.CODES,
    expressions.CODES,
    checks.CODES,
    versions.CODES,
    upgrade.CODES,
)

CODES: dict[str, Code] = {code.id: code for table in TABLES for code in table}
