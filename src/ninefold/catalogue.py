"""Every kind of diagnostic, by its code: what `ninefold explain NF0403` looks up."""

from __future__ import annotations

from ninefold.checks import codes as checks
from ninefold.checks import sight_codes as sight
from ninefold.diagnostics.diagnostic import Code
from ninefold.expressions import codes as expressions
from ninefold.resolve import codes as resolve
from ninefold.syntax import codes as syntax
from ninefold.versions import codes as versions

TABLES: tuple[tuple[Code, ...], ...] = (
    syntax.CODES, resolve.CODES, expressions.CODES, checks.CODES, sight.CODES, versions.CODES,
)  # fmt: skip

CODES: dict[str, Code] = {code.id: code for table in TABLES for code in table}
