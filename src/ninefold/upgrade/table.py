"""What has to become of one table: its columns, what it is known by, its states, and what is unique in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Aside, Column, Index, Reference, Schema, Table
from ninefold.upgrade import sources, steps
from ninefold.upgrade.change import By, Change, of_lacking
from ninefold.upgrade.shape import ON_DELETE, names_there, reference_indexes, type_in_words
from ninefold.upgrade.sources import Value
from ninefold.upgrade.steps import Premise, Step
from ninefold.values import Array, Digest, Integer, Number, Text, Timestamp, Type


@dataclass
class Changed:
    """One table that was there. Where a column has to be another one in the database, the whole table is made anew;
    else its columns are changed one by one. `whole`: the new table, with what its shape does not say. `made`:
    as of an `Outcome` (`ninefold.upgrade.changes`)."""

    old: Table
    new: Table
    whole: Table
    stored: Schema
    wanted: Schema
    made: Mapping[str, str | None]
    silent: list[Step] = field(default_factory=list)
    aside: tuple[Aside, ...] = ()
    anew: bool = False
    values: dict[str, Value] = field(default_factory=dict)
    kept: list[tuple[Aside, str]] = field(default_factory=list)

    def changes(self) -> tuple[Change, ...]:
        self.aside = self.old.aside
        self.kept = [(each, each.stored) for each in self.old.aside]
        is_back = self._there(self.old.name) != self.old.name
        self.anew = is_back and bool(self.old.references)
        known = {column.name: column for column in self.old.columns}
        wanted = {column.name: column for column in self.new.columns}
        new = [column for column in self.new.columns if column.name not in known]
        # What it had before by this name is no other name of what goes.
        others = [column for column in new if not any(_is(each.column, column) for each in self.old.aside)]
        found = [*self._identifier()]
        if is_back:
            taken = steps.TakeTableBack(self.old)
            found.append(Change("back", f"resource `{self.new.name}`", "with the rows that it had", (taken,)))
        for name, was in known.items():
            if name in wanted:
                found += self._column(was, wanted[name])
            else:
                found.append(self._hidden(was, others))
        for column in new:
            found += self._new(column)
        found += self._states()
        found += self._unique()
        if self.anew:
            remake = steps.Remake(self.new, dict(self.values), tuple(self.kept), self.old.states, self.old.identified)
            found = [replace(each, steps=tuple(_not_by_column(each.steps))) for each in found]
            self.silent = [remake]
        else:
            self._indexes()
            if self.new.identified and not self.old.identified:
                self.silent.append(steps.AddIdentities(structs.replace(self.new, aside=self.aside)))
        return tuple(found)

    def _there(self, name: str) -> str | None:
        """What the table of a resource is called before anything is done."""
        if any(table.name == name for table in self.stored.tables):
            return name
        return steps.aside_name(name) if any(table.name == name for table in self.stored.aside) else None

    @property
    def here(self) -> str:
        return self._there(self.old.name) or self.old.name

    def about(self, name: str) -> str:
        return f"field `{self.new.name}.{name}`"

    # Columns

    def _column(self, was: Column, now: Column) -> Iterator[Change]:
        name, table = now.name, self.new.name
        self.values[name] = sources.Kept(name)
        if was.type != now.type:
            yield self._converted(was, now)
        before, after = _reference(self.old, name), _reference(self.new, name)
        if was.type == now.type:
            yield from self._referring(name, before, after)
        if self.here != self.old.name and after is not None and before is not None:
            yield Change("back", self.about(name), "", (), (self._refer(name, after),))
        if was.required and not now.required and name not in self.new.key:
            yield Change("automatic", self.about(name), "no longer required", (steps.Relax(table, name),))
        elif now.required and not was.required:
            yield Change(
                "automatic",
                self.about(name),
                "required now",
                (steps.Require(table, name),),
                (steps.HaveValue(self.here, name),),
                write=of_lacking(table, name),
            )
        if isinstance(was.type, Digest) and isinstance(now.type, Digest):
            # Of a password and of a token are kept what cannot be made of each other.
            field = f"{table}.{name}"
            kind = steps.AreSecrets(self.here, name, name in self.whole.passwords)
            write = (f"{{reissue: {field}}}", *(() if now.required else (f"{{lose: {field}}}",)))
            yield Change("automatic", self.about(name), "", (), (kind,), write=write)
        if now.serial and not was.serial:
            self.anew = True
            differ = (steps.Differ(self.here, (name,)),)
            yield Change("automatic", self.about(name), "numbered by the service now", (), differ)
        elif was.serial and not now.serial:
            yield Change("automatic", self.about(name), "no longer numbered by the service")

    def _converted(self, was: Column, now: Column) -> Change:
        words = f"was {type_in_words(was.type)} and is {type_in_words(now.type)}"
        self.anew = True
        about = f"{self.new.name}.{now.name}"
        exact = self.made[about] if about in self.made else _exact(was, now)
        lacking = "" if was.required else f", where: has(old.{was.name})"
        value = "…" if exact is None else f'"{exact}"'
        without = () if now.required or now.name in self.new.key else (f"{{aside: {about}}}", f"{{lose: {about}}}")
        write = (f"{{set: {about}, is: {value}{lacking}}}", *without)
        if {type(was.type), type(now.type)} == {Integer, Number}:
            self.values[now.name] = sources.Converted(was.name, was.type, now.type)
            premise = steps.Convert(self.here, was.name, was.type, now.type)
            hides = self._is_sensitive((now.name,))
            return Change("automatic", self.about(now.name), words, (), (premise,), write=write, hides=hides)
        nothing = steps.AreNone(self.here, was.name)
        self.values.pop(now.name)
        return Change("automatic", self.about(now.name), words, (), (nothing,), "upgrade", write, nothing)

    def _referring(self, name: str, before: Reference | None, after: Reference | None) -> Iterator[Change]:
        if before is None or after is None:
            if before is not after:
                self.anew = True
                yield Change("automatic", self.about(name), "refers to other rows than it did")
            return
        held, holds = before, after
        if before.key == after.key:
            held, holds = _held(before, self.stored), _held(after, self.wanted)
        if held.key != holds.key:
            self.anew = True
            self.values[name] = sources.Followed(name, held.table, held.key, holds.key)
            words, field = f"follows the primary key of `{after.table}`", f"{self.new.name}.{name}"
            required = next(each for each in self.new.columns if each.name == name).required
            # Rows that are decided to go may have been referred to.
            there = (self._refer(name, before),)
            none = () if required else (f"{{set: {field}, is: null, where: …}}",)
            write = (f"{{remove rows: {self.new.name}, where: …}}", *none)
            over = steps.AreNone(self.here, name)
            yield Change("automatic", self.about(name), words, (), there, "upgrade", write, over)
        elif self._there(held.table) and (was := _type(held, self.stored)) != (now := _type(holds, self.wanted)):
            # Other than numbers there are none: what they refer to has no rows, or is asked.
            self.anew = True
            self.values.pop(name)
            if {type(was), type(now)} == {Integer, Number}:
                self.values[name] = sources.Converted(name, was, now)
        if before.on_delete != after.on_delete:
            self.anew = True
            kinds = (ON_DELETE[each.on_delete].lower() for each in (before, after))
            words = "`on delete: {1}` instead of `{0}`".format(*kinds)
            yield Change("automatic", self.about(name), words)

    def _refer(self, column: str, reference: Reference) -> Premise:
        """That what a column holds is there to be referred to."""
        target = self._there(reference.table)
        tables = (each for each in (*self.stored.tables, *self.stored.aside) if each.name == reference.table)
        key = next((names_there(each).get(reference.key) for each in tables), None)
        if target is None or key is None:
            return steps.AreNone(self.here, column)
        return steps.Refer(self.here, column, target, key)

    def _hidden(self, was: Column, new: Sequence[Column]) -> Change:
        aside = steps.set_aside(was, self.aside)
        self.aside = (*self.aside, aside)
        self.kept.append((aside, was.name))
        if was.serial or was.name in self.old.key:
            self.anew = True
        others = [each.name for each in new if each.type == was.type]
        table, over = self.new.name, steps.AreNone(self.here, was.name)
        if others:
            names = " or ".join(f"`{table}.{each}`" for each in others)
            lacking = "" if was.required else f", where: has(old.{was.name})"
            write = (
                *(f"{{rename: {table}.{was.name}, to: {table}.{each}}}" for each in others),
                f"{{aside: {table}.{was.name}}}",
                *(f"{{set: {table}.{each}, is: …{lacking}}}" for each in others),
            )
            words = f"is gone, and {names} is new, {type_in_words(was.type)} too: renamed?"
            hidden = (steps.SetAside(table, aside),)
            return Change("question", self.about(was.name), words, hidden, by="upgrade", write=write, over=over)
        by: By = "upgrade" if new else "serve"
        words = "its values stay, hidden"
        return Change("aside", self.about(was.name), words, (steps.SetAside(table, aside),), by=by, over=over)

    def _new(self, column: Column) -> Iterator[Change]:
        table, name = self.new.name, column.name
        was = next((each for each in reversed(self.aside) if _is(each.column, column)), None)
        if was is not None:
            yield from self._taken_back(column, was)
            return
        if not column.required:
            if column.name in self.new.key:
                self.anew = True
            yield Change("automatic", self.about(name), "new, optional", (steps.AddColumn(self.new, column),))
            return
        self.anew = True
        write = (f"{{set: {table}.{name}, is: …}}",)
        empty = (steps.AreNone(self.here),)
        yield Change("automatic", self.about(name), "new, required", (), empty, write=write)

    def _taken_back(self, column: Column, was: Aside) -> Iterator[Change]:
        table, name = self.new.name, column.name
        self.aside = tuple(each for each in self.aside if each is not was)
        self.kept = [(each, stored) for each, stored in self.kept if each is not was]
        self.values[name] = sources.Kept(was.stored)
        premises: list[Premise] = []
        more: list[Step] = [steps.TakeBack(table, was)]
        if column.required:
            premises.append(steps.HaveValue(self.here, was.stored))
            more.append(steps.Require(table, name))
        if (reference := _reference(self.new, name)) is not None:
            premises.append(self._refer(was.stored, reference))
        if reference is not None or column.serial or name in self.new.key:
            self.anew = True
        write = of_lacking(table, name)
        yield Change("back", self.about(name), "with the values that it had", tuple(more), tuple(premises), write=write)

    # The table

    def _identifier(self) -> Iterator[Change]:
        if self.old.key == self.new.key:
            return
        self.anew = True
        hidden = {each.stored: each.column.name for each in self.old.aside}
        before = tuple(hidden.get(name, name) for name in self.old.key)
        words = f"was {_all(before)} and is {_all(self.new.key)}" if before != self.new.key else "has other values"
        known = names_there(self.old, {column.name: column.type for column in self.new.columns})
        unique = steps.Differ(self.here, tuple(known.get(name, name) for name in self.new.key))
        about = f"the primary key of `{self.new.name}`"
        if self.new.key and all(name in known for name in self.new.key):
            have = (steps.HaveValue(self.here, known[name]) for name in self.new.key)
            rows, hides = steps.AreNone(self.here), self._is_sensitive(self.new.key)
            yield Change("automatic", about, words, (), (unique, *have), "upgrade", over=rows, hides=hides)
        elif not self.new.key:
            write = (f"{{remove rows: {self.new.name}, where: …}}",)
            yield Change("automatic", about, words, (), (unique,), "upgrade", write, steps.AreNone(self.here))
        else:
            # What a new column has to have in each row is asked of that.
            asked = {column.name for column in self.new.columns if column.required and column.name not in known}
            empty = () if asked.intersection(self.new.key) else (steps.AreNone(self.here),)
            yield Change("automatic", about, words, (), empty, "upgrade", over=steps.AreNone(self.here))

    def _states(self) -> Iterator[Change]:
        machine = self.whole.machine
        if self.new.states and not self.old.states:
            about = f"the time since when each `{self.new.name}` is in its state"
            yield Change("automatic", about, "new, from now on", (steps.AddEntered(self.new),))
        if self.old.states and not self.new.states:
            # Kept, it would be wrong as soon as the field is written without it.
            self.silent.append(steps.DropEntered(self.new.name))
        if machine is not None and any(column.name == machine.column for column in self.old.columns):
            are_in = steps.AreIn(self.here, machine.column, machine.states)
            yield Change("automatic", self.about(machine.column), "", (), (are_in,))

    def _unique(self) -> Iterator[Change]:
        old, new = unique(self.old), unique(self.new)
        keys = {tuple(sorted(self.old.key)), tuple(sorted(self.new.key))}
        for columns, index in old.items():
            if columns in new or columns in keys:
                continue
            names = {column.name for column in self.new.columns}
            if all(column in names for column in columns):
                words = f"unique {_all(columns)} of `{self.new.name}`"
                yield Change("automatic", words, "no longer", (steps.DropIndex(index),))
            else:
                self.silent.append(steps.DropIndex(index))
        there = {*self.values, *(column.name for column in self.old.columns)}
        for columns, index in new.items():
            if columns not in old:
                # Where a column is new, no row has a value in it, and none is the same as another.
                differ = (steps.Differ(self.here, tuple(map(self._before, columns))),) if {*columns} <= there else ()
                about, made = f"unique {_all(columns)} of `{self.new.name}`", steps.MakeIndex(self.new.name, index)
                yield Change("automatic", about, "new", (made,), differ, hides=self._is_sensitive(columns))

    def _is_sensitive(self, columns: Sequence[str]) -> bool:
        return not set(columns).isdisjoint(self.whole.sensitive)

    def _before(self, name: str) -> str:
        """What a column was called that has this name now."""
        value = self.values.get(name)
        return value.column if isinstance(value, sources.Kept) else name

    def _indexes(self) -> None:
        """Those that are for speed alone follow the contract's lists without further words; so do those that copy the
        key, or another of them."""
        before, after = _speed(self.old), _speed(self.new)
        self.silent += [steps.DropIndex(index) for name, index in before.items() if after.get(name) != index]
        self.silent += [steps.DropIndex(index) for index in _copies(self.old, self.new)]
        self.silent += [
            steps.MakeIndex(self.new.name, index) for name, index in after.items() if before.get(name) != index
        ]


def _not_by_column(found: Sequence[Step]) -> Iterator[Step]:
    """The steps that a table which is made anew does not take already."""
    return (each for each in found if isinstance(each, steps.TakeTableBack | steps.MakeSupport))


def _exact(was: Column, now: Column) -> str | None:
    """An expression by which nothing of a value is lost, where it is of use at all."""
    old = f"old.{was.name}"
    match was.type, now.type:
        case Text(), Integer():
            return f"int({old})"
        case Number(), Integer():
            return f"int({old})"
        case Integer(), Text():
            return f"string({old})"
        case Text(), Timestamp():
            return f"timestamp({old} + 'T00:00:00Z')"
        case ((Text() | Integer() | Number()), Array()):
            return f"[{old}]"
        case _:
            return None


def _is(was: Column, now: Column) -> bool:
    return was.name == now.name and was.type == now.type


def _speed(table: Table) -> dict[str, Index]:
    return {index.name: index for index in (*table.indexes, *reference_indexes(table)) if not index.unique}


def _copies(old: Table, new: Table) -> list[Index]:
    """The unique indexes that only keep unique what the key or another of them does."""
    wanted = {index.name for index in new.indexes}
    there = [(tuple(sorted(index.columns)), index) for index in old.indexes if index.unique]
    kept = {tuple(sorted(new.key)), *(columns for columns, index in there if index.name in wanted)}
    return [index for columns, index in there if index.name not in wanted and columns in kept]


def _reference(table: Table, column: str) -> Reference | None:
    return next((reference for reference in table.references if reference.column == column), None)


def _held(reference: Reference, schema: Schema) -> Reference:
    """What a reference holds: the key of its rows, or, where that is a reference itself, what this one holds."""
    seen = set[str]()
    while reference.table not in seen:
        seen.add(reference.table)
        table = next((each for each in (*schema.tables, *schema.aside) if each.name == reference.table), None)
        inner = None if table is None else _reference(table, reference.key)
        if inner is None:
            break
        reference = inner
    return reference


def _type(reference: Reference, schema: Schema) -> Type:
    tables = (each for each in (*schema.tables, *schema.aside) if each.name == reference.table)
    return next(column.type for table in tables for column in table.columns if column.name == reference.key)


def unique(table: Table) -> Mapping[tuple[str, ...], Index]:
    """By what they keep unique: the order of the columns and their names do not matter to that."""
    return {tuple(sorted(index.names)): index for index in table.indexes if index.unique}


def _all(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names) or "none"
