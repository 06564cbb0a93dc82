"""Invariants that read other rows, held by the writes of those.

From an invariant's expression follows which rows it reads, and by which way they belong to its own row. A write of one
of those goes that way backwards: the rows that it leads from, as it was before the write and as it is after it, are
asked the invariant again, in the transaction of the write, by one select that is known beforehand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ninefold.checked.operations import Operation
from ninefold.checked.resources import Field, Guard, Resource
from ninefold.compile import inputs
from ninefold.compile.judge import details
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import Requirement, Scope
from ninefold.compile.which_rows import WRITTEN, among, keys_of
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import reads_beyond
from ninefold.expressions.rows import Dependency, Step, dependencies, unwritten
from ninefold.expressions.tree import Typed
from ninefold.language.verbs import Does
from ninefold.plan.held import Upheld
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.fragment import TRUE, Fragment, all_of, bind, column, identifier, join
from ninefold.values import Array, Text


@dataclass(frozen=True)
class Change:
    """What a write does to the rows of a resource: it creates one, deletes one (`found` says which), or gives some
    `fields` of one another value; or it does so with `several`."""

    does: Does
    resource: Resource
    fields: frozenset[str] = frozenset()
    found: Sequence[Fragment] = ()
    several: bool = False


@dataclass(frozen=True)
class _Affected:
    """Rows that are asked again: those whose `column` is among the keys. `before`: a select of the keys (`k`) as they
    are before the write, over the row that it acts on; `after`: as they are afterwards. No column: all rows."""

    column: str | None = None
    before: Fragment | None = None
    after: Fragment | None = None


ALL = _Affected()


def upheld(change: Change, operation: Operation, perspective: Perspective) -> tuple[Upheld, ...]:
    """The invariants of other rows that a write may break."""
    found = []
    falling: tuple[_Falling, ...] = ()
    if change.does == "removes" and perspective.checked.invariants:
        falling = tuple(_falling(change.resource, perspective.checked.resources))
    cleared = {each.resource.name for each in falling if each.cleared is not None}
    for resource, invariant in perspective.checked.invariants:
        # One that reads its own row alone is asked by the writes of that, but nothing else writes what is cleared.
        if resource.name in cleared or reads_beyond(invariant.that, (resource.name,), perspective.checked.model):
            affected = tuple(_affected(change, falling, resource, invariant, perspective))
            if affected:
                found.append(_upheld(change, resource, invariant, affected, operation, perspective))
    return tuple(found)


def _affected(
    change: Change, falling: tuple[_Falling, ...], resource: Resource, invariant: Guard, perspective: Perspective
) -> Iterator[_Affected]:
    found = dependencies(invariant.that, resource.name, perspective.checked.model)
    resources = perspective.checked.resources
    if change.does == "removes":
        for fallen in falling:
            yield from _of_deletion(fallen, found, resource, resources)
        return
    row = change.resource
    for each in found:
        if each.resource != row.name or each.way == ():
            continue  # the row itself is asked by its own write
        chosen = change.does == "makes" or bool(each.fields & change.fields)
        if each.way is None:
            if chosen:
                yield ALL
            continue
        step = each.way[-1]
        if step.kind == "field":
            if change.does == "changes" and chosen:
                yield _towards(each.way, resource, resources, after=_written(change))
        elif chosen:
            same = [column(row.name, key) + " = " + bind(_key(row, key)) for key in row.primary_key]
            if change.several:
                same = [among(WRITTEN, row)]
            after = f"SELECT {identifier(row.name)}.{identifier(step.name)} FROM {identifier(row.name)} WHERE "
            moved = change.does == "changes" and step.name in change.fields
            before = "SELECT " + column(row.name, step.name) + " AS k" if moved else None
            yield _towards(each.way, resource, resources, before, after + all_of(same))


def _written(change: Change) -> Fragment:
    row = change.resource
    if change.several:
        return "SELECT " + join(", ", keys_of(WRITTEN, row)) + f" FROM {WRITTEN}"
    return bind(_key(row, row.primary_key[0]))


def _key(row: Resource, name: str) -> Typed:
    return inputs.row_key(name, row.fields[name].type)


# ── What a deletion takes with it ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Falling:
    """Rows that a deletion reaches: `which` is their condition under the resource's name, over the row that is deleted
    (under its own). `cleared`: they stay, and this reference of theirs has no value any more. None: the row itself.
    `endless`: which rows is not known, so that it may be any."""

    resource: Resource
    deleted: Resource
    alias: str
    which: Fragment | None
    cleared: str | None = None
    endless: bool = False

    def select(self, name: str) -> Fragment:
        """A field of them all."""
        if self.which is None:
            return "SELECT " + column(self.deleted.name, name) + " AS k"
        source = f" AS k FROM {identifier(self.resource.name)} AS {identifier(self.alias)} WHERE "
        return "SELECT " + column(self.alias, name) + source + self.which


MOST_WAYS = 32
"""Ways from a row that is deleted to those of one resource that fall with it. Beyond, any row may."""

DEEPEST = 12
"""References from one to the next on such a way."""


def _falling(deleted: Resource, resources: Mapping[str, Resource]) -> Iterator[_Falling]:
    """Each resource is looked at once, after all that it falls with. What is in a circle, or behind one, falls with
    rows that no select tells, and so does what falls in too many ways to write them out."""
    yield _Falling(deleted, deleted, deleted.name, None)
    if len(deleted.primary_key) != 1:  # nothing refers to others
        return
    behind = _behind(deleted, resources)
    before = Counter(other.name for edges in behind.values() for other, field in edges if field.on_delete == "cascade")
    ways: dict[str, list[Fragment]] = {name: [] for name in behind}
    depth = dict.fromkeys(behind, 0)
    ways[deleted.name].append(column(deleted.name, deleted.primary_key[0]))
    endless: set[str] = set()
    ready = [deleted.name] if not before[deleted.name] else []
    done: set[str] = set()
    while ready:
        name = ready.pop()
        done.add(name)
        if len(ways[name]) > MOST_WAYS or depth[name] > DEEPEST:
            endless.add(name)
        for other, field in behind[name]:
            if name not in endless:
                yield from _by(other, field, ways, depth[name], deleted)
            if field.on_delete == "cascade":
                endless |= {other.name} if name in endless else set()
                depth[other.name] = max(depth.get(other.name, 0), depth[name] + 1)
                before[other.name] -= 1
                if not before[other.name] and other.name in behind:
                    ready.append(other.name)
    for name in behind.keys() - done | endless & behind.keys():
        for other, field in behind[name]:
            cleared = field.name if field.on_delete == "set null" else None
            yield _Falling(other, deleted, other.name, None, cleared, endless=True)


def _by(
    other: Resource, field: Field, ways: Mapping[str, list[Fragment]], depth: int, deleted: Resource
) -> Iterator[_Falling]:
    """What falls by one reference, once for each way to what it refers to; as far as anything refers to it in turn,
    these ways go on."""
    alias = f"falls {depth + 1}"
    for keys in ways[field.references or ""]:
        which = column(alias, field.name) + " IN (" + keys + ")"
        if field.on_delete == "set null":
            yield _Falling(other, deleted, alias, which, cleared=field.name)
            continue
        yield _Falling(other, deleted, alias, which)
        if other.name in ways:
            source = f" FROM {identifier(other.name)} AS {identifier(alias)} WHERE "
            ways[other.name].append("SELECT " + column(alias, other.primary_key[0]) + source + which)


def _behind(deleted: Resource, resources: Mapping[str, Resource]) -> dict[str, list[tuple[Resource, Field]]]:
    """Of each resource whose rows fall with a deletion and may be referred to: the references to them that fall with
    them, or are cleared."""
    referring: dict[str, list[tuple[Resource, Field]]] = {}
    for other in resources.values():
        for field in other.fields.values():
            if field.references is not None and field.stored and field.on_delete != "restrict":
                referring.setdefault(field.references, []).append((other, field))
    found: dict[str, list[tuple[Resource, Field]]] = {}
    waiting = [deleted]
    while waiting:
        target = waiting.pop()
        if target.name not in found:
            found[target.name] = referring.get(target.name, [])
            for other, field in found[target.name]:
                if field.on_delete == "cascade" and len(other.primary_key) == 1:
                    waiting.append(other)
    return found


def _of_deletion(
    falling: _Falling, found: Sequence[Dependency], own: Resource, resources: Mapping[str, Resource]
) -> Iterator[_Affected]:
    for each in found:
        if each.resource != falling.resource.name:
            continue
        if falling.cleared is not None:
            if falling.cleared not in each.fields:
                continue
        elif not each.of_which_rows:
            continue
        if each.way is None or falling.endless or (each.way == () and len(own.primary_key) != 1):
            yield ALL
        elif each.way == ():
            yield _Affected(own.primary_key[0], before=falling.select(own.primary_key[0]))
        else:
            step = each.way[-1]
            name = step.name if step.kind == "back" else falling.resource.primary_key[0]
            if falling.cleared == name and step.kind == "back":
                # The row was among those that refer back to what is deleted, which is asked nothing any more.
                continue
            yield _towards(each.way, own, resources, before=falling.select(name))


# ── The way back ──────────────────────────────────────────────────────────────────────────────────────────────


def _towards(
    way: tuple[Step, ...],
    own: Resource,
    resources: Mapping[str, Resource],
    before: Fragment | None = None,
    after: Fragment | None = None,
) -> _Affected:
    """From the keys that the last step of a way leads by to those that its first one does."""
    first = way[0]
    name = first.name if first.kind == "field" else own.primary_key[0]
    ends = [None if keys is None else _backwards(way, keys, resources) for keys in (before, after)]
    return _Affected(name, ends[0], ends[1])


def _backwards(way: tuple[Step, ...], keys: Fragment, resources: Mapping[str, Resource]) -> Fragment:
    for index in range(len(way) - 1, 0, -1):
        step, earlier = way[index], way[index - 1]
        left = resources[step.resource]
        by = step.name if step.kind == "field" else left.primary_key[0]
        gives = earlier.name if earlier.kind == "back" else left.primary_key[0]
        alias = f"way {index}"
        source = f" AS k FROM {identifier(left.name)} AS {identifier(alias)} WHERE "
        keys = "SELECT " + column(alias, gives) + source + column(alias, by) + " IN (" + keys + ")"
    return keys


# ── The statements ────────────────────────────────────────────────────────────────────────────────────────────


def _upheld(
    change: Change,
    resource: Resource,
    invariant: Guard,
    affected: tuple[_Affected, ...],
    operation: Operation,
    perspective: Perspective,
) -> Upheld:
    number = resource.invariants.index(invariant)
    condition = Condition("check", resource.name, code=invariant.code, trace=(invariant.place,))
    rows = {resource.name: resource.name}
    holds = perspective.holds(unwritten(invariant.that), rows)
    names, columns, which = list[ResultColumn](), list[Fragment](), list[Fragment]()
    for index, each in enumerate(affected):
        if each.column is None:
            which = [TRUE]
            names, columns = [], []
            break
        own = column(resource.name, each.column)
        if each.after is not None:
            which.append(own + " IN (" + each.after + ")")
        if each.before is not None:
            name, type_ = f"{resource.name} {number} {index}", Array(items=resource.fields[each.column].type)
            names.append(ResultColumn(name, type_))
            columns.append(_gathered(each.before, type_, perspective))
            alias = identifier("as it was")
            item = perspective.dialect.item(alias, perspective.stored(type_.items))
            remembered = perspective.dialect.items(bind(inputs.affected(name, type_)), alias)
            which.append(own + " IN (SELECT " + item + " FROM " + remembered + ")")
    asked = [Requirement(condition, holds, Scope.ROW)]
    told = details(asked, operation, resource, perspective, unwritten, if_seen=True)
    shown = [detail for _, detail in told]
    name = identifier(resource.name)
    failing = (
        "SELECT "
        + join(", ", shown or [Fragment("1")])
        + f" FROM {name} AS {name} WHERE ("
        + join(" OR ", which)
        + ") AND ("
        + holds
        + ") IS NOT TRUE"
        + _by_identifier(resource)
        + " LIMIT 1"
    )
    results = tuple(ResultColumn(f"detail of {each}", Text(nullable=True)) for each, _ in told)
    written = identifier(change.resource.name)
    before = None
    if columns:
        text = "SELECT " + join(", ", columns) + f" FROM {written} AS {written} WHERE " + all_of(change.found)
        before = Statement((Piece(text.text, text.binds),), tuple(names))
    return Upheld(
        condition=condition,
        failing=Statement((Piece(failing.text, failing.binds),), results),
        details=tuple(each for each, _ in told),
        before=before,
    )


def _by_identifier(resource: Resource) -> Fragment:
    keys = [column(resource.name, key) for key in resource.primary_key]
    return " ORDER BY " + join(", ", keys) if keys else Fragment("")


def _gathered(keys: Fragment, type_: Array, perspective: Perspective) -> Fragment:
    array = perspective.dialect.gather(Fragment("keys.k"), type_.items, ())
    return "(SELECT " + array + " FROM (SELECT DISTINCT k FROM (" + keys + f"){perspective.dialect.nameless}) AS keys)"
