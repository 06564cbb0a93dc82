"""What is decided over the rows of one database, one thing after another: the steps, and the shape after each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import structs

from ninefold.diagnostics.codes import NOTHING_OF_THAT_NAME
from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Typed
from ninefold.plan.schema import Column, Schema, Table
from ninefold.syntax.nodes import Scalar
from ninefold.tools.decisions.document import Decided, Hide, Leave, MapState, Reissue, RemoveRows, Rename, Set
from ninefold.tools.decisions.names import named, with_column_named
from ninefold.tools.decisions.rows import IN_NUMBERS, OLD, typed
from ninefold.upgrade import steps
from ninefold.upgrade.as_it_was import free_members
from ninefold.upgrade.changes import DELIVERIES, Inherited
from ninefold.upgrade.shape import identifier_type, shape
from ninefold.upgrade.steps import Step
from ninefold.values import Boolean, Digest, Object, Row, Type, optional


class Deciding:
    """`reads`: of each table what `old` has, by the names of before. `leaving`: the fields whose names will be free, as
    is decided later; who takes one of them waits for it under another name. `setting`: the fields that are given
    values."""

    def __init__(self, stored: Schema, wanted: Schema, checks: Collection[str], decided: Decided) -> None:
        self._source = decided.source
        self.checks = checks
        self.stored = shape(stored)
        self.tables = {table.name: table for table in self.stored.tables}
        self.wanted = {table.name: table for table in wanted.tables}
        self.steps: list[Step] = []
        self.lost: list[str] = []
        self.left: list[str] = []
        self.given: list[str] = []
        self.inherited: list[Inherited] = []
        self.leaving: set[str] = set()
        self.setting = {each.field.text for each in decided.decisions if isinstance(each, Set)}
        self._waiting: dict[tuple[str, str], str] = {}
        self.found: list[Diagnostic] = []
        self.reads = {
            table.name: {
                column.name: (column.name, self._type(column))
                for column in table.columns
                if not isinstance(column.type, Digest)
            }
            for table in self.stored.tables
        }

    def _type(self, column: Column) -> Type:
        """What a column holds, as `old` has it: of a reference what its row is known by."""
        held = column.type
        plain = identifier_type(held.resource, self.stored) if isinstance(held, Row) else held
        return plain if column.required else optional(plain)

    # Names

    def unknown(self, what: str, name: Scalar, among: Mapping[str, object], span: Span | None = None) -> None:
        near = did_you_mean(name.text, list(among))
        message = f"{what} `{name.text}`"
        self.found.append(Diagnostic(NOTHING_OF_THAT_NAME, message, (Label(span or name.span, ""),), near))

    def _field(self, name: Scalar) -> tuple[Table, str] | None:
        """The table, as it is by now, and the field that are named."""
        resource, _, field = name.text.rpartition(".")
        table = self.tables.get(resource)
        if table is None:
            self.unknown("nothing is stored of", name, {f"{each}.{field}": None for each in self.tables})
            return None
        return table, field

    # Decisions

    def rename(self, each: Rename) -> None:
        if "." not in each.old.text and "." not in each.new.text:
            self._rename_table(each)
            return
        found = self._field(each.old)
        if found is None:
            return
        table, old = found
        resource, _, new = each.new.text.rpartition(".")
        names = {column.name for column in table.columns}
        wanted = self.wanted.get(table.name)
        if old not in names:
            self.unknown("nothing is stored of", each.old, {f"{table.name}.{name}": None for name in names})
        elif wanted is None or resource != table.name or new not in {column.name for column in wanted.columns}:
            self.unknown("the contract has no field", each.new, _fields(self.wanted))
        elif new not in names:
            self._rename(table.name, old, new)
        elif each.new.text in self.leaving:
            self._waiting[table.name, new] = waits = f"$renamed {new}"
            self._rename(table.name, old, waits)
        else:
            self.unknown("there is already a field", each.new, {})

    def _rename(self, table: str, old: str, new: str) -> None:
        """And what waits for the name that is free now."""
        self.steps.append(self._renaming(table, old, new))
        self.tables = {name: with_column_named(held, table, old, new) for name, held in self.tables.items()}
        self._call_receivers(table, table, {old: new})
        self.reads[table] = {
            name: (new if column == old else column, type_) for name, (column, type_) in self.reads[table].items()
        }
        waits = self._waiting.pop((table, old), None)
        if waits is not None:
            self._rename(table, waits, old)

    def _call_receivers(self, old: str, new: str, columns: Mapping[str, str]) -> None:
        """Where events go to the rows of a table: it, or columns of it, are called otherwise."""
        name, *key = self.stored.subscribers or ("",)
        if name != old or not name:
            return
        now = (new, *(columns.get(each, each) for each in key))
        if now != self.stored.subscribers:
            self.stored = structs.replace(self.stored, subscribers=now)
            shape_ = structs.replace(self.stored, tables=tuple(self.tables.values()))
            self.steps.append(steps.CallReceivers(shape_))

    def _renaming(self, table: str, old: str, new: str) -> steps.RenameColumn:
        is_key, stored = old in self.tables[table].key, self.stored
        return steps.RenameColumn(
            table, old, new, is_key and table in stored.credentials, is_key and stored.subscriptions
        )

    def _is_known_by(self, table: str, column: str) -> bool:
        """Whether credentials, or those who subscribed, know rows by it."""
        is_key, stored = column in self.tables[table].key, self.stored
        return is_key and (stored.subscriptions or table in stored.credentials)

    def _rename_table(self, each: Rename) -> None:
        old, new = each.old.text, each.new.text
        if old not in self.tables:
            self.unknown("nothing is stored of", each.old, self.tables)
        elif new not in self.wanted or new in self.tables:
            self.unknown("the contract has no new resource", each.new, self.wanted)
        else:
            stored = self.stored
            issued = self.tables[old].key if old in stored.credentials else None
            self.steps.append(steps.RenameTable(old, new, issued, old in stored.scoped, stored.subscriptions))
            self.tables = {table.name: table for table in (named(held, old, new) for held in self.tables.values())}
            self.reads[new] = self.reads.pop(old)
            self._call_receivers(old, new, {})
            self.stored = structs.replace(
                self.stored,
                credentials=tuple(new if name == old else name for name in self.stored.credentials),
                scoped=tuple(new if name == old else name for name in self.stored.scoped),
            )

    def set(self, each: Set) -> None:
        found = self._field(each.field)
        if found is None:
            return
        table, name = found
        wanted = self.wanted.get(table.name)
        now = next((column for column in wanted.columns if column.name == name), None) if wanted is not None else None
        if wanted is None or now is None:
            self.unknown("the contract has no field", each.field, _fields(self.wanted))
            return
        type_ = (
            identifier_type(now.type.resource, Schema(tuple(self.wanted.values())))
            if isinstance(now.type, Row)
            else now.type
        )
        value = self._typed(each.value, table, optional(type_))
        where = None if each.where is None else self._typed(each.where, table, Boolean())
        if value is None or (each.where is not None and where is None):
            return
        said = self._said(each.where or each.value, table)
        self.fill(table, wanted, name, type_, value, where, said=said)

    def fill(
        self,
        table: Table,
        wanted: Table,
        name: str,
        type_: Type,
        value: Typed,
        where: Typed | None,
        *,
        whole: bool = False,
        said: steps.Said | None = None,
    ) -> None:
        """Give a field a value, which is of `type_`; where it was of another, what it had is set aside. So it is where
        others know rows by it, who follow. What is not given another value keeps what it had, also as the number of the
        other type that it is."""
        held = next(column for column in shape(Schema((wanted,))).tables[0].columns if column.name == name)
        reads = dict(self.reads[table.name])
        was = next((column for column in table.columns if column.name == name), None)
        same = was is not None and was.type == held.type
        if was is None or not same or self._is_followed(table, name):
            as_it_was = f"{OLD}.{self.before(table.name, name)}"
            if was is not None:
                table, reads = self.put_aside(table, was)
            self.add(table, wanted, held)
            form = None if was is None else "{0}" if same else IN_NUMBERS.get((type(was.type), type(held.type)))
            if form is not None and where is not None:
                kept = typed(self.old(table.name), form.format(as_it_was), optional(type_))
                assert kept is not None
                self.steps.append(steps.Fill(table.name, name, type_, kept, None, reads))
        self.steps.append(steps.Fill(table.name, name, type_, value, where, reads, whole, said))

    def _said(self, text: Scalar, table: Table) -> steps.Said | None:
        key = tuple(self.before(table.name, column) for column in table.key)
        return None if self._source is None else steps.Said(self._source.at(text.span), key)

    def before(self, table: str, column: str) -> str:
        """What a column was called before anything was decided, which is how expressions read it of `old`."""
        return next((name for name, (now, _) in self.reads[table].items() if now == column), column)

    def _is_followed(self, table: Table, column: str) -> bool:
        """Whether what is kept beside rows knows them by it, or references that the document sets no values of."""
        referring = {
            f"{each.name}.{one.column}"
            for each in self.tables.values()
            for one in each.references
            if (one.table, one.key) == (table.name, column)
        }
        return self._is_known_by(table.name, column) or (bool(referring) and referring.isdisjoint(self.setting))

    def give(self, resource: str, field: str, value: Typed) -> None:
        """A new field that every row has to have is given what the contract gives to new rows."""
        table, wanted = self.tables.get(resource), self.wanted.get(resource)
        column = None if wanted is None else next((each for each in wanted.columns if each.name == field), None)
        if table is None or wanted is None or column is None or not column.required:
            return
        if any(each.name == field for each in table.columns) or any(each.column.name == field for each in table.aside):
            return
        reads = self.as_it_becomes(table, wanted)
        if not free_members(value, (resource,)) <= reads.keys():
            return
        held = next(each for each in shape(Schema((wanted,))).tables[0].columns if each.name == field)
        self.add(table, wanted, held)
        self.steps.append(steps.Fill(resource, field, column.type, value, None, reads))
        self.given.append(f"{resource}.{field}")

    def as_it_becomes(self, table: Table, wanted: Table) -> dict[str, tuple[str, Type]]:
        """What an expression of the contract reads of a row that is there: of each field that is stored as it says."""
        there = {column.name: column.type for column in table.columns}
        shaped = shape(Schema((wanted,))).tables[0].columns
        return {
            column.name: (column.name, self._type(own))
            for column, own in zip(wanted.columns, shaped, strict=True)
            if there.get(column.name) == own.type and not isinstance(own.type, Digest)
        }

    def map(self, each: MapState) -> None:
        found = self._field(each.state)
        if found is None:
            return
        table, state = found
        wanted = self.wanted.get(table.name)
        machine = None if wanted is None else wanted.machine
        if machine is None or each.to.text not in machine.states:
            self.unknown("the contract has no state", each.to, dict.fromkeys(() if machine is None else machine.states))
            return
        self.steps.append(steps.MapState(table.name, machine.column, machine.column, state, each.to.text, each.kept))

    def reissue(self, each: Reissue) -> None:
        found = self._field(each.field)
        if found is None:
            return
        table, name = found
        wanted = self.wanted.get(table.name)
        was = next((column for column in table.columns if column.name == name), None)
        now = None if wanted is None else next((column for column in wanted.columns if column.name == name), None)
        if wanted is None or was is None or now is None or not {type(was.type), type(now.type)} == {Digest}:
            self.unknown("there is no secret", each.field, {})
        else:
            required = was.required or now.required
            self.steps.append(steps.Reissue(table.name, name, name in wanted.passwords, required))

    def hide(self, each: Hide) -> None:
        if "." not in each.field.text:
            self._hide_table(each)
            return
        found = self._field(each.field)
        if found is None:
            return
        table, name = found
        was = next((column for column in table.columns if column.name == name), None)
        wanted = self.wanted.get(table.name)
        if was is None or name in (table.key if wanted is None else wanted.key):
            self.unknown("nothing is stored that could go, of", each.field, {})
            return
        table, _ = self.put_aside(table, was)
        now = () if wanted is None else shape(Schema((wanted,))).tables[0].columns
        again = next((column for column in now if column.name == name), None)
        if wanted is not None and again is not None:
            self.add(table, wanted, again)
        if each.lost:
            self.lost.append(f"{table.name}.{name}")

    def _hide_table(self, each: Hide) -> None:
        name = each.field.text
        table = self.tables.get(name)
        if table is None and name == DELIVERIES and each.lost and self.stored.subscriptions:
            self.steps.append(steps.DropDeliveries())
            self.stored = structs.replace(self.stored, subscriptions=False, subscribers=None, callers=())
            return
        if table is None or name in self.wanted:
            gone = dict.fromkeys(each for each in self.tables if each not in self.wanted)
            self.unknown("nothing is stored that could go, of", each.field, gone)
            return
        self.steps.append(steps.SetTableAside(table))
        del self.tables[name]
        self.stored = structs.replace(self.stored, aside=(*self.stored.aside, table))
        if each.lost:
            self.lost.append(name)

    def remove(self, each: RemoveRows) -> None:
        table = self.tables.get(each.resource.text)
        if table is None:
            self.unknown("nothing is stored of", each.resource, self.tables)
            return
        where = None if each.where is None else self._typed(each.where, table, Boolean())
        if where is not None or each.where is None:
            said = None if each.where is None else self._said(each.where, table)
            self.steps.append(steps.RemoveRows(table.name, where, dict(self.reads[table.name]), said))

    def leave(self, each: Leave) -> None:
        known = {**_fields(self.wanted), **dict.fromkeys(self.checks)}
        if each.about.text in known:
            self.left.append(each.about.text)
        else:
            self.unknown("the contract has no field and no check", each.about, known)

    # What they have in common

    def put_aside(self, table: Table, was: Column) -> tuple[Table, dict[str, tuple[str, Type]]]:
        """The table without a column, which is set aside, and what is read of it. One by which rows are known stays
        what others refer to, under the name that is hidden, until the table is made anew."""
        aside = steps.set_aside(was, table.aside)
        if was.name in table.key:
            self.steps.append(self._renaming(table.name, was.name, aside.stored))
            self.tables = {
                name: with_column_named(held, table.name, was.name, aside.stored) for name, held in self.tables.items()
            }
            table = self.tables[table.name]
            self._call_receivers(table.name, table.name, {was.name: aside.stored})
        else:
            self.steps.append(steps.SetAside(table.name, aside))
        gone = (was.name, aside.stored)
        without = structs.replace(
            table,
            columns=tuple(column for column in table.columns if column.name not in gone),
            references=tuple(each for each in table.references if each.column not in gone),
            indexes=tuple(each for each in table.indexes if not {*gone}.intersection(each.names)),
            aside=(*table.aside, aside),
        )
        self.tables[table.name] = without
        reads = {
            name: (aside.stored if column == was.name else column, type_)
            for name, (column, type_) in self.reads[table.name].items()
        }
        self.reads[table.name] = reads
        return without, dict(reads)

    def add(self, table: Table, wanted: Table, column: Column) -> None:
        plain = structs.replace(column, required=False, serial=False)
        # One by which rows will be known has no value yet.
        self.steps.append(steps.AddColumn(structs.replace(wanted, key=table.key), plain))
        reference = tuple(each for each in wanted.references if each.column == column.name)
        self.tables[table.name] = structs.replace(
            table, columns=(*table.columns, plain), references=(*table.references, *reference)
        )

    def old(self, table: str) -> Object:
        """A row as it was, which expressions call `old`."""
        return Object(members={name: type_ for name, (_, type_) in self.reads[table].items()})

    def _typed(self, expression: Scalar, table: Table, expected: Type) -> Typed | None:
        ast = parse(expression.text)
        problems: tuple[Problem, ...]
        if isinstance(ast, Problem):
            problems, typed = (ast,), None
        else:
            checked = check(ast, Scope({OLD: self.old(table.name)}), expected)
            problems, typed = checked.problems, checked.typed
        for each in problems:
            label = Label(expression.part(each.start, each.end), each.label)
            self.found.append(Diagnostic(each.code, each.message, (label,), each.help))
        return typed


def _fields(tables: Mapping[str, Table]) -> dict[str, None]:
    return {f"{table.name}.{column.name}": None for table in tables.values() for column in table.columns}
