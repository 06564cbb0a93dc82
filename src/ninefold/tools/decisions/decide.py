"""What a document of an upgrade decides, as steps, and the shape that a database has after them: what is not decided
then is compared as it would have been without."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from msgspec import structs

from ninefold.diagnostics.codes import ANOTHER_DATABASE
from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.expressions.tree import Constant, Select, Variable, free_variables, substitute, words
from ninefold.plan.schema import Column, Schema, Table
from ninefold.syntax.scalars import quoted
from ninefold.tools.decisions.contract import NO_WAYS, Made, Older, Ways, conversions
from ninefold.tools.decisions.deciding import Deciding
from ninefold.tools.decisions.document import (
    NOTHING_DECIDED,
    CallScheme,
    Decided,
    Hide,
    Leave,
    MapState,
    Reissue,
    RemoveRows,
    Rename,
    Set,
)
from ninefold.tools.decisions.rows import OLD, typed
from ninefold.upgrade import steps
from ninefold.upgrade.as_it_was import as_it_was, free_members
from ninefold.upgrade.change import Change
from ninefold.upgrade.changes import Inherited, Outcome, changes
from ninefold.upgrade.shape import digest, shape
from ninefold.values import Boolean, Object, Row, Text, Type, optional


def decide(
    decided: Decided,
    stored: Schema,
    wanted: Schema,
    given: Made = MappingProxyType({}),
    checks: Collection[str] = (),
    ways: Ways = NO_WAYS,
    is_empty: bool = False,
    issuing: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Outcome, tuple[Diagnostic, ...]]:
    """What is decided over a database of shape `stored` that is to serve the schema `wanted`; what of it cannot be.
    `given`: what the contract decides itself, for the rows of which nothing else is decided. `checks`: those of its
    resources, by their names (`room.check.too_small`). `ways`: what part 9 says of older versions, which counts where
    nothing else is decided (`ninefold.tools.decisions.decide`). `is_empty`: there are no rows; where the database has
    the form of the contract besides, made for it or by a service that asked nobody, nothing is left to decide.
    `issuing`: the schemes whose credentials the contract issues, each with the resource of whose rows they are."""
    if is_empty and changes(stored, wanted).same:
        decided = NOTHING_DECIDED
    deciding = Deciding(stored, wanted, checks, decided)
    made_for = decided.made_for
    if made_for is not None and made_for.text != digest(stored):
        message = f"this was written for a database of the shape {made_for.text}, and this one is of {digest(stored)}"
        deciding.found.append(Diagnostic(ANOTHER_DATABASE, message, (Label(made_for.span, ""),)))
    inherit(deciding, ways, decided)
    one_after_another(deciding, decided)
    # What the contract gives it gives of the row as it becomes.
    deciding.steps = list(as_it_was(deciding.steps))
    give_older(deciding, ways, decided)
    for (resource, field), value in given.items():
        deciding.give(resource, field, value)
    for each in decided.decisions:
        if isinstance(each, CallScheme):
            call_scheme(deciding, each, issuing)
    after = structs.replace(deciding.stored, tables=tuple(deciding.tables.values()))
    count = len(decided.decisions)
    outcome = Outcome(
        tuple(deciding.steps),
        after,
        tuple(deciding.lost),
        count,
        tuple(deciding.left),
        tuple(deciding.given),
        tuple(deciding.inherited),
        asked(deciding, ways, decided),
    )
    return outcome, tuple(deciding.found)


def one_after_another(deciding: Deciding, decided: Decided) -> None:
    for number, each in enumerate(decided.decisions):
        match each:
            case Rename():
                rest = decided.decisions[number + 1 :]
                deciding.leaving = {later.old.text for later in rest if isinstance(later, Rename)}
                deciding.rename(each)
            case Set():
                deciding.set(each)
            case MapState():
                deciding.map(each)
            case Hide():
                deciding.hide(each)
            case RemoveRows():
                deciding.remove(each)
            case Leave():
                deciding.leave(each)
            case Reissue():
                deciding.reissue(each)
            case CallScheme():
                pass  # once all that is renamed is called as the contract has it (`call_scheme`)


def call_scheme(deciding: Deciding, each: CallScheme, issuing: Mapping[str, str]) -> None:
    of, kept = issuing.get(each.to.text), deciding.stored.credentials
    if of is None:
        deciding.unknown("the contract issues no credentials of", each.to, issuing)
    elif each.scheme.text in issuing:
        deciding.unknown("the contract itself issues credentials of", each.scheme, {})
    elif of not in kept:
        deciding.unknown(f"nothing was issued to a `{of}`, of", each.scheme, {})
    else:
        deciding.steps.append(steps.CallCredentials(of, each.scheme.text, each.to.text))


# What part 9 of a contract says of an older version, decided over the rows that were stored for it: names, fills,
# conversions and words.
#
# How a database stores a field says most of what has to be known: it has the older name alone, or the older type, or no
# such field. Where a field held something else of the same type, only the contract that the rows were served with last
# tells of which version they are (`Ways.since`).


def inherit(deciding: Deciding, ways: Ways, decided: Decided) -> None:
    """Names first: what else is said is said of the fields as they are called now."""
    for rename in ways.names:
        _renamed(deciding, rename, decided)
    for table, wanted, column in _fields(deciding, decided):
        for older in _candidates(ways):
            if _converted(deciding, older, (table, wanted, column), older is ways.taken):
                break
            if ways.since != ways.newest and _mapped(deciding, older, (table, wanted, column), decided):
                break


def give_older(deciding: Deciding, ways: Ways, decided: Decided) -> None:
    """What a row that an older version makes is given, the rows have that it made: of a field that is new, all of them;
    of one that is required now, those that lack it."""
    for name, wanted in deciding.wanted.items():
        for column in wanted.columns:
            of = [older for older in _candidates(ways) if (name, column.name) in older.made]
            if of and f"{name}.{column.name}" not in decided.mentioned:
                _given(deciding, of[0], wanted, column)


def asked(deciding: Deciding, ways: Ways, decided: Decided) -> tuple[Change, ...]:
    """Where nobody knows of which version the rows are, and the type does not tell."""
    return () if ways.is_known else tuple(_asked(deciding, ways, decided))


def _candidates(ways: Ways) -> tuple[Older, ...]:
    """That of the rows first, if it is known; then the newest."""
    taken = ways.taken
    return ways.older if taken is None else (taken, *(each for each in ways.older if each is not taken))


def _fields(deciding: Deciding, decided: Decided) -> Iterator[tuple[Table, Table, Column]]:
    """The fields that are there, of which nothing else is decided: the table as it is stored, as it is wanted, and the
    column as it is wanted."""
    for name, wanted in deciding.wanted.items():
        for column in wanted.columns:
            table = deciding.tables.get(name)
            stored = None if table is None else _column(table, column.name)
            if table is None or stored is None or isinstance(column.type, Row) or column.serial:
                continue
            if {f"{name}.{column.name}", f"{name}.{deciding.before(name, column.name)}"} & decided.mentioned:
                continue
            yield table, wanted, column


def _column(table: Table, name: str) -> Column | None:
    return next((each for each in table.columns if each.name == name), None)


# One thing


def _renamed(deciding: Deciding, each: Rename, decided: Decided) -> None:
    (resource, _, old), (_, _, new) = each.old.text.rpartition("."), each.new.text.rpartition(".")
    table, wanted = deciding.tables.get(resource), deciding.wanted.get(resource)
    if table is None or wanted is None or each.old.text in decided.mentioned:
        return
    stored, fields = ({column.name for column in of.columns} for of in (table, wanted))
    if old in stored - fields and new in fields - stored:
        deciding.rename(each)
        deciding.inherited.append(Inherited("renamed", f"{each.new.text} was {each.old.text}, as part 9 says"))


def _converted(deciding: Deciding, older: Older, at: tuple[Table, Table, Column], is_of_it: bool) -> bool:
    """Where the rows are of that version, or store the field as it did and as the newest does not."""
    table, wanted, column = at
    found = older.stored.get((table.name, column.name))
    if found is None:
        return False
    given, value, now = found.given, found.stored, _stored_type(column.type)
    was = _column(table, column.name)
    if was is None or was.type != _stored_type(given) or (was.type == now and not is_of_it):
        return False
    if not free_variables(value) <= {"value"}:
        return False
    name = deciding.before(table.name, column.name)
    read = Select(operand=Variable(name=OLD, type=deciding.old(table.name)), name=name, type=given)
    where = None if was.required else typed(deciding.old(table.name), f"has(old.{name})", Boolean())
    deciding.fill(table, wanted, column.name, column.type, substitute(value, "value", read), where, whole=True)
    said = f"{table.name}.{column.name} is `{found.written.text}` of what it was in `{older.version}`, as part 9 says"
    deciding.inherited.append(Inherited("converted", said))
    return True


def _mapped(deciding: Deciding, older: Older, at: tuple[Table, Table, Column], decided: Decided) -> bool:
    """Of values that are none any more: what they are called now."""
    table, wanted, column = at
    called = older.words.get((table.name, column.name), {})
    was = _column(table, column.name)
    if not called or was is None or not isinstance(was.type, Text) or was.type != _stored_type(column.type):
        return False
    is_state = wanted.machine is not None and wanted.machine.column == column.name
    name = deciding.before(table.name, column.name)
    for old, new in called.items():
        if is_state and f"{table.name}.{old}" in decided.mentioned:
            continue
        if is_state:
            deciding.steps.append(steps.MapState(table.name, column.name, column.name, old, new, kept=True))
        else:
            text = f"has(old.{name}) && old.{name} == {words(_constant(old))}"
            is_it = typed(deciding.old(table.name), text, Boolean())
            deciding.fill(table, wanted, column.name, column.type, _constant(new), is_it)
        said = f"{table.name}.{column.name}: `{old}` of `{older.version}` is `{new}`, as part 9 says"
        deciding.inherited.append(Inherited("mapped", said))
    return True


def _given(deciding: Deciding, older: Older, wanted: Table, column: Column) -> None:
    table, value = deciding.tables.get(wanted.name), older.made[wanted.name, column.name]
    if table is None or column.name in wanted.key or column.serial:
        return
    reads, was = deciding.as_it_becomes(table, wanted), _column(table, column.name)
    lacking = None
    if was is not None:
        if was.required or not column.required or was.type != _stored_type(column.type):
            return
        becoming = Object(members={name: optional(type_) for name, (_, type_) in reads.items()})
        lacking = typed(becoming, f"!has(old.{column.name})", Boolean())
    elif any(each.column.name == column.name for each in table.aside):
        return
    if not free_members(value, (wanted.name,)) <= reads.keys():
        return
    if was is None:
        deciding.add(table, wanted, _shaped(wanted, column.name))
    deciding.steps.append(steps.Fill(wanted.name, column.name, column.type, value, lacking, reads))
    rows = "each row" if was is None else "each row without it"
    said = f"{wanted.name}.{column.name}: {rows} has `{words(value)}`, as part 9 says of `{older.version}`"
    deciding.inherited.append(Inherited("given", said))


def _asked(deciding: Deciding, ways: Ways, decided: Decided) -> Iterator[Change]:
    for (resource, name), conversion, versions in conversions(ways.older):
        table, wanted = deciding.tables.get(resource), deciding.wanted.get(resource)
        was, column = (None if of is None else _column(of, name) for of in (table, wanted))
        about = f"{resource}.{name}"
        if (
            was is None
            or column is None
            or {about, f"{resource}.{deciding.before(resource, name)}"} & ({*decided.mentioned, *deciding.left})
        ):
            continue
        if was.type == _stored_type(conversion.given) == _stored_type(column.type):
            where = "" if was.required else f', where: "has(old.{name})"'
            said = f"{{set: {about}, is: {quoted(conversion.of(f'{OLD}.{name}'))}{where}}}"
            over = steps.AreNone(resource, name)
            told = ways.what_was(conversion, versions)
            write = (said, f"{{leave: {about}}}")
            yield Change("question", f"field `{about}`", told, by="upgrade", write=write, over=over)


def _stored_type(type_: Type) -> Type:
    return shape(Schema((Table("", (Column("", type_),), ()),))).tables[0].columns[0].type


def _shaped(wanted: Table, name: str) -> Column:
    return next(each for each in shape(Schema((wanted,))).tables[0].columns if each.name == name)


def _constant(text: str) -> Constant:
    return Constant(value=text, type=Text())
