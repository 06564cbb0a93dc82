"""What one kind of caller sees: row rules as SQL.

Every endpoint is planned once for each kind of caller that it admits, so that the rows which such a caller may
see are part of the text of each statement, and not a decision at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ninefold.checked.service import Checked
from ninefold.expressions.to_sql import to_sql
from ninefold.expressions.tree import Typed
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment

OPERATOR = "$operator"
"""Who sees every row. No scheme of a contract can be called so."""

TRUE = Fragment("TRUE")
FALSE = Fragment("FALSE")


@dataclass(frozen=True)
class Perspective:
    """`who` is a scheme's name, `anyone`, or the operator."""

    checked: Checked
    who: str
    dialect: Dialect

    def visible(self, resource: str, alias: str) -> Fragment | None:
        """The condition of the rows of a resource that this caller sees; None: all of them."""
        if self.who == OPERATOR:
            return None
        rules = self.checked.row_rules.get(resource)
        if rules is None or self.who not in rules:
            return FALSE
        rule = rules[self.who]
        return None if rule is None else self.holds(rule, {resource: alias})

    def holds(self, typed: Typed, rows: Mapping[str, str]) -> Fragment:
        """A condition of the contract's own authority (row rules, permissions, guards, invariants): it reads all
        rows."""
        return to_sql(typed, model=self.checked.model, rows=rows, dialect=self.dialect, condition=True)

    def value(self, typed: Typed, rows: Mapping[str, str]) -> Fragment:
        """A value that the contract itself gives (`sets`): it reads all rows."""
        return to_sql(typed, model=self.checked.model, rows=rows, dialect=self.dialect)

    def shown(self, typed: Typed, rows: Mapping[str, str]) -> Fragment:
        """An expression whose value the caller gets to know (views, filters, sorts): of other resources it reads
        only the rows that the caller sees."""
        return to_sql(typed, model=self.checked.model, rows=rows, dialect=self.dialect, visible=self.visible)
