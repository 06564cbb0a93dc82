"""What one kind of caller sees: row rules as SQL.

Every endpoint is planned once for each kind of caller that it admits, so that the rows which such a caller may
see are part of the text of each statement, and not a decision at run time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ninefold.checked.lists import plainly
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.rows import loaded
from ninefold.expressions.scope import Log, stored_as
from ninefold.expressions.tree import Constant, Typed
from ninefold.plan.events import EVENT
from ninefold.sql.dialect import Dialect
from ninefold.sql.expressions import Item, Items, failure_of, items_of, to_sql
from ninefold.sql.fragment import FALSE, TRUE, Fragment, all_of, bind, column, identifier, join
from ninefold.sql.rows import ABOUT, SEEN, source
from ninefold.values import Text, Type

OPERATOR = "$operator"
"""Who sees every row. No scheme of a contract can be called so."""

_HEARD = "event heard"
"""An event by which its row rule is judged, in SQL."""

CONTRACT = "$contract"
"""Who sees every row that is there: the contract, by its own authority."""


@dataclass(frozen=True)
class Perspective:
    """`who` is a scheme's name, `anyone`, the operator or the contract. `told`: who is told why something was refused,
    where that is another than `who`. `case`: in which case of an endpoint, as the contract names it."""

    checked: Checked
    who: str
    dialect: Dialect
    told: str | None = None
    case: str | None = None

    @property
    def teller(self) -> Perspective:
        """What they see who are told of a refusal: whoever's authority is at work, details of rows are for these."""
        return self if self.told is None else Perspective(self.checked, self.told, self.dialect)

    def stored(self, type_: Type) -> Type:
        """The type that a value is stored as: of a row, that of its primary key."""
        return stored_as(type_, self.checked.model)

    def source(self, resource: str) -> Fragment:
        """What stands in FROM for the rows of a resource, before its alias."""
        return source(resource, self.checked.model, self.dialect)

    def visible(self, resource: str, alias: str) -> Fragment | None:
        """The condition of the rows of a resource that this caller sees; None: all of them."""
        if self.who in (OPERATOR, CONTRACT):
            return None
        if self.checked.resources[resource].log:
            log = self.checked.model[resource].log
            in_version = log is not None and log.version is not None
            own = self._event_ruled(column(alias, "position").text) if in_version else self._ruled(resource, alias)
            told = "(" + self.told_of(alias) + ")"
            return told if own is None else told + " AND (" + own + ")"
        return self._ruled(resource, alias)

    def told_of(self, event: str) -> Fragment:
        """The condition of the events whose row this caller sees: as the event found it, and, if it is still there, as
        it is now. A row that has gone to somebody else takes its past with it, and nobody gains the past of a row that
        comes to them later. `event`: the alias of the log (`ninefold.sql.rows`)."""
        kinds = self.checked.events.kinds
        resources = dict.fromkeys(cause.resource for kind in kinds for cause in kind.causes)
        cases = [f" WHEN '{name}' THEN (" + self._row_seen(name, event) + ")" for name in resources]
        if not cases:
            return FALSE
        return f"(CASE {identifier(event)}.resource" + join("", cases) + " ELSE FALSE END) IS TRUE"

    def hears(self, event: str) -> Fragment:
        """The condition of the events that this caller is told of as they happen: of those whose row it sees the ones
        that `rows` of `event` shows it, where that is stated."""
        told, own = self.told_of(event), self.checked.resources.get(EVENT)
        is_ruled = own is not None and own.log and EVENT in self.checked.row_rules
        if not is_ruled or self.who in (OPERATOR, CONTRACT):
            return told
        rule = self._event_ruled(f"{identifier(event)}.seq")
        return told if rule is None else told + " AND " + rule

    def _event_ruled(self, position: str) -> Fragment | None:
        """What `rows` of `event` says of the event at a position; None: it shows every one. A rule is the same in all
        versions, so the event is as the newest has it; and whether it can still be read is another question."""
        rule, shape = self._ruled(EVENT, _HEARD), self.checked.model[EVENT]
        if rule is None:
            return None
        stored = {**self.checked.model, EVENT: replace(shape, log=Log(lasts=None))}
        heard, log = identifier(_HEARD), source(EVENT, stored, self.dialect)
        return "EXISTS (SELECT 1 FROM " + log + f" AS {heard} WHERE {heard}.position = {position} AND (" + rule + "))"

    def _row_seen(self, resource: str, event: str) -> Fragment:
        then, now = f"{resource} then", f"{resource} now"
        as_it_was, as_it_is = self.visible(resource, then), self.visible(resource, now)
        if as_it_was is None or as_it_is is None:
            return TRUE
        own, log = self.checked.resources[resource], identifier(event)
        seen, about = Fragment(f"{log}.{SEEN}"), Fragment(f"{log}.{ABOUT}")
        # What else a row has is nobody's to ask: so a field more is no other rule.
        kept = [
            self.dialect.member_of(seen, each.name, self.stored(each.type)) + f" AS {identifier(each.name)}"
            for each in own.readable
            if column(then, each.name).text in as_it_was.text
        ]
        same = [
            column(now, key) + " = " + self.dialect.item_of(about, n, self.stored(own.fields[key].type))
            for n, key in enumerate(own.primary_key)
        ]
        row = f"SELECT 1 FROM {identifier(resource)} AS {identifier(now)} WHERE " + all_of(same)
        past = "(SELECT " + join(", ", kept or [Fragment("1")]) + f") AS {identifier(then)}"
        return (
            "EXISTS (SELECT 1 FROM "
            + past
            + " WHERE "
            + as_it_was
            + ") AND (NOT EXISTS ("
            + row
            + ") OR EXISTS ("
            + row
            + " AND ("
            + as_it_is
            + ")))"
        )

    def _ruled(self, resource: str, alias: str) -> Fragment | None:
        rules = self.checked.row_rules.get(resource)
        if rules is None or self.who not in rules:
            return FALSE
        rule = rules[self.who]
        return None if rule is None else self.holds(plainly(rule, self.checked.resources[resource]), {resource: alias})

    def rule(self, resource: str) -> tuple[Place, ...]:
        """Where the contract says which rows of a resource this caller sees, and what the others are to it. Of an
        event, also where it says whose rows are seen, and how long it can be read."""
        if self.who in (OPERATOR, CONTRACT):
            return ()
        places, found = self.checked.places, [resource]
        if self.checked.resources[resource].log:
            found += [cause.resource for kind in self.checked.events.kinds for cause in kind.causes]
        ruled = [each for each in dict.fromkeys(found) if not self._sees_all(each)]
        rules = [place for each in ruled for place in places.nearest("authentication", "rows", each, self.who)]
        return (
            *dict.fromkeys(rules),
            *(places.at("authentication", "unseen rows") if ruled else ()),
            *(places.at("events", "kept") if self.checked.resources[resource].log else ()),
        )

    def _sees_all(self, resource: str) -> bool:
        rules = self.checked.row_rules.get(resource, {})
        return self.who in rules and rules[self.who] is None

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

    def holds(self, typed: Typed, rows: Mapping[str, str | Item], new: Resource | None = None) -> Fragment:
        """A condition of the contract's own authority (row rules, permissions, guards, invariants): it reads all
        rows. `new`: the row of that resource is still to be made, and a number that the database gives it is none yet:
        what reads it is an error."""
        fields = () if new is None else new.fields.values()
        unnumbered = next(((name, each.name) for name in rows for each in fields if each.serial), None)
        return to_sql(
            loaded(typed),
            model=self.checked.model,
            rows=rows,
            dialect=self.dialect,
            condition=True,
            unnumbered=unnumbered,
        )

    def value(self, typed: Typed, rows: Mapping[str, str | Item]) -> Fragment:
        """A value that the contract itself gives (`sets`): it reads all rows."""
        return to_sql(loaded(typed), model=self.checked.model, rows=rows, dialect=self.dialect)

    def failing(self, typed: Typed, rows: Mapping[str, str | Item]) -> Fragment | None:
        """The condition under which such a value is an error and not only none; None: under which it is none."""
        return failure_of(loaded(typed), self.checked.model, rows, self.dialect)

    def shown(self, typed: Typed, rows: Mapping[str, str | Item], condition: bool = False) -> Fragment:
        """An expression whose value the caller gets to know (views, filters, sorts, `where`): of other resources it
        reads only the rows that the caller sees and that are not gone. `condition`: only truth counts."""
        return to_sql(
            loaded(typed),
            model=self.checked.model,
            rows=rows,
            dialect=self.dialect,
            visible=self.present,
            condition=condition,
        )

    def items(self, typed: Typed, rows: Mapping[str, str | Item]) -> Items:
        """The items of an array that are shown one by one: of rows, those that the caller sees and that are not
        gone."""
        return items_of(loaded(typed), model=self.checked.model, rows=rows, dialect=self.dialect, visible=self.present)
