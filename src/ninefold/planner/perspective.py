"""What one kind of caller sees: row rules as SQL.

Every endpoint is planned once for each kind of caller that it admits, so that the rows which such a caller may
see are part of the text of each statement, and not a decision at run time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ninefold.checked.service import Checked
from ninefold.diagnostics.source import Place
from ninefold.expressions.to_sql import Item, Items, items_of, to_sql
from ninefold.expressions.tree import Constant, Typed
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.values import Text

OPERATOR = "$operator"
"""Who sees every row. No scheme of a contract can be called so."""

CONTRACT = "$contract"
"""Who sees every row that is there: the contract, by its own authority."""

TRUE = Fragment("TRUE")
FALSE = Fragment("FALSE")


@dataclass(frozen=True)
class Perspective:
    """`who` is a scheme's name, `anyone`, the operator or the contract. `told`: who is told why something was refused,
    where that is another than `who`."""

    checked: Checked
    who: str
    dialect: Dialect
    told: str | None = None

    @property
    def teller(self) -> Perspective:
        """What they see who are told of a refusal: whoever's authority is at work, details of rows are for these."""
        return self if self.told is None else Perspective(self.checked, self.told, self.dialect)

    def visible(self, resource: str, alias: str) -> Fragment | None:
        """The condition of the rows of a resource that this caller sees; None: all of them."""
        if self.who in (OPERATOR, CONTRACT):
            return None
        rules = self.checked.row_rules.get(resource)
        if rules is None or self.who not in rules:
            return FALSE
        rule = rules[self.who]
        return None if rule is None else self.holds(rule, {resource: alias})

    def rule(self, resource: str) -> tuple[Place, ...]:
        """Where the contract says which rows of a resource this caller sees, and what the others are to it."""
        places, rules = self.checked.places, self.checked.row_rules.get(resource, {})
        if self.who in (OPERATOR, CONTRACT) or (self.who in rules and rules[self.who] is None):
            return ()
        return (
            *places.nearest("authentication", "rows", resource, self.who),
            *places.at("authentication", "unseen rows"),
        )

    def there(self, resource: str, alias: str, besides: Collection[str] = ()) -> Fragment | None:
        """The condition of the rows that are not in a state of `gone`, or in one of the states `besides`; None: all
        of them. The operator looks at every row."""
        machine = self.checked.resources[resource].machine
        if machine is None or self.who == OPERATOR:
            return None
        gone = [bind(Constant(state, Text())) for state in machine.gone if state not in besides]
        if not gone:
            return None
        return f"{identifier(alias)}.{identifier(machine.field)} NOT IN (" + join(", ", gone) + ")"

    def present(self, resource: str, alias: str) -> Fragment | None:
        """The condition of the rows that this caller sees and that are not gone; None: all of them."""
        conditions = [each for each in (self.there(resource, alias), self.visible(resource, alias)) if each is not None]
        return join(" AND ", ["(" + each + ")" for each in conditions]) if conditions else None

    def holds(self, typed: Typed, rows: Mapping[str, str | Item]) -> Fragment:
        """A condition of the contract's own authority (row rules, permissions, guards, invariants): it reads all
        rows."""
        return to_sql(typed, model=self.checked.model, rows=rows, dialect=self.dialect, condition=True)

    def value(self, typed: Typed, rows: Mapping[str, str | Item]) -> Fragment:
        """A value that the contract itself gives (`sets`): it reads all rows."""
        return to_sql(typed, model=self.checked.model, rows=rows, dialect=self.dialect)

    def shown(self, typed: Typed, rows: Mapping[str, str | Item]) -> Fragment:
        """An expression whose value the caller gets to know (views, filters, sorts): of other resources it reads
        only the rows that the caller sees and that are not gone."""
        return to_sql(typed, model=self.checked.model, rows=rows, dialect=self.dialect, visible=self.present)

    def items(self, typed: Typed, rows: Mapping[str, str | Item]) -> Items:
        """The items of an array that are shown one by one: of rows, those that the caller sees and that are not
        gone."""
        return items_of(typed, model=self.checked.model, rows=rows, dialect=self.dialect, visible=self.present)
