"""From a response's content to columns of a statement and a tree over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import groupby

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Response, Rows
from ninefold.checked.operations import List, Read
from ninefold.compile.perspective import Perspective
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.reads import needs_database
from ninefold.expressions.tree import Call, Select, Typed, Variable, walk
from ninefold.plan import responses as planned
from ninefold.plan.chosen import Choices, expanded, given, hidden
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.statement import Piece, ResultColumn
from ninefold.sql.dialect import ROWS
from ninefold.sql.expressions import Item
from ninefold.sql.fragment import Fragment, identifier, join
from ninefold.values import Boolean, Row, Text


@dataclass
class Columns:
    """The columns that a statement gives, gathered while its response is planned; each expression once."""

    perspective: Perspective
    rows: Mapping[str, str | Item]
    fragments: list[Fragment] = field(default_factory=list)
    results: list[ResultColumn] = field(default_factory=list)
    expressions: list[Typed] = field(default_factory=list)
    alike: dict[tuple[type, str | None], list[int]] = field(default_factory=dict)
    """Where the expressions stand that may be equal: those of one kind and name."""
    readers: list[Switch | None] = field(default_factory=list)
    """Of each column, what alone reads it, if that is something that a request chooses."""
    reader: Switch | None = None
    """What reads the columns that are added now."""
    of_rows: Columns | None = None
    """Those of the rows of a page, where these are of what stands beside them."""

    def add(self, typed: Typed) -> int:
        """The number of the column that gives this expression."""
        for index in self.alike.get(_kind(typed), ()):
            if self.expressions[index] == typed:
                if self.readers[index] != self.reader:
                    self.readers[index] = None
                return index
        return self._added(typed, ResultColumn(_title(typed, len(self.results)), typed.type), self._shown(typed))

    def _shown(self, typed: Typed) -> Fragment:
        return self.perspective.shown(typed, self.rows)

    def _added(self, typed: Typed, result: ResultColumn, fragment: Fragment) -> int:
        self.alike.setdefault(_kind(typed), []).append(len(self.expressions))
        self.expressions.append(typed)
        self.results.append(result)
        self.fragments.append(fragment)
        self.readers.append(self.reader)
        return len(self.results) - 1

    @contextmanager
    def read_by(self, switch: Switch) -> Iterator[None]:
        """The columns added meanwhile are read by what a request chooses, and perhaps by nothing else."""
        before = self.reader
        self.reader = switch
        yield
        self.reader = before

    def add_each(self, wanted: Each) -> tuple[int, tuple[ResultColumn, ...], planned.Content]:
        """The number of the column that gives the items of an array, what it holds of each, and how that is shown."""
        items = self.perspective.items(wanted.range, self.rows)
        within = Columns(self.perspective, {**self.rows, wanted.variable: items.item})
        item = content(wanted.item, within)
        types = [each.type for each in within.results]
        number = self._added(
            Call("each", [wanted.range, *within.expressions], ROWS),
            ResultColumn(_title(wanted.range, len(self.results)), ROWS),
            items.gathered(within.fragments, types, self.perspective.dialect),
        )
        return number, tuple(within.results), item

    def add_revision(self, resource: str) -> int:
        """The number of the column that gives the revision of a row, from which its entity tag is made."""
        revision = Fragment(f"{identifier(str(self.rows[resource]))}.{identifier(REVISION_COLUMN)}")
        return self._added(Variable(REVISION_COLUMN, Text()), ResultColumn("revision", Text()), revision)

    def add_own(self, title: str, fragment: Fragment) -> None:
        """A column of text that no expression of a contract reads: its title begins with `$`."""
        self._added(Variable(title, Text()), ResultColumn(title.removeprefix("$"), Text(nullable=True)), fragment)

    def add_presence(self, row: Typed) -> int | None:
        """The number of a column that has a value if a row that is referred to is there and seen; None if the row
        cannot be missing."""
        assert isinstance(row.type, Row)
        resource = self.perspective.checked.resources[row.type.resource]
        alias = f"present {len(self.results) + 1}"
        seen = self.perspective.present(resource.name, alias)
        if seen is None:
            return self.add(row) if row.type.nullable else None
        table, key = identifier(resource.name), identifier(resource.primary_key[0])
        found = f"(SELECT 1 FROM {table} AS {identifier(alias)} WHERE {identifier(alias)}.{key} = "
        return self._added(
            Call("present", [row], Boolean()),
            ResultColumn(f"{_title(row, len(self.results))} is there", Boolean(nullable=True)),
            found + self._shown(row) + " AND (" + seen + "))",
        )

    @property
    def listed(self) -> Fragment:
        """What stands after SELECT or RETURNING: a row that is there is found, also where nothing of it is shown."""
        return join(", ", self.fragments) if self.fragments else Fragment("1")

    def select(self, source: Fragment) -> tuple[Piece, ...]:
        """The select of the columns from a source. A column that only something chosen reads is null, and not worked
        out, where it is not chosen."""
        pieces, text = list[Piece](), Fragment("SELECT ") + ("" if self.fragments else "1")
        columns = zip(self.fragments, map(self._switch, range(len(self.fragments))), strict=True)
        for number, (switch, together) in enumerate(groupby(columns, key=lambda column: column[1])):
            fragments = [fragment for fragment, _ in together]
            text = text + (", " if number else "")
            if switch is None:
                text = text + join(", ", fragments)
            else:
                pieces += (Piece(text.text, text.binds), *_switched(fragments, switch))
                text = Fragment("")
        text = text + source
        return (*pieces, Piece(text.text, text.binds))

    def _switch(self, number: int) -> Switch | None:
        """On what it depends whether a column is worked out. One of the row itself costs nothing."""
        typed = self.expressions[number]
        stored = isinstance(typed, Select) and typed.through == "field" and isinstance(typed.operand, Variable)
        return None if stored else self.readers[number]


@dataclass(frozen=True)
class Switch:
    """What a request chooses, by its name (`ninefold.plan.chosen`). `on`: it is shown where the switch is on; else
    where it is off."""

    name: str
    on: bool


def _switched(fragments: Sequence[Fragment], switch: Switch) -> tuple[Piece, Piece]:
    """Columns, and as many nulls in their place."""
    columns, nothing = join(", ", fragments), ", ".join("NULL" for _ in fragments)
    if switch.on:
        return Piece(columns.text, columns.binds, when=switch.name), Piece(nothing, unless=switch.name)
    return Piece(columns.text, columns.binds, unless=switch.name), Piece(nothing, when=switch.name)


def _title(typed: Typed, number: int) -> str:
    match typed:
        case Variable():
            return typed.name
        case Select():
            return f"{_title(typed.operand, number)}.{typed.name}"
        case _:
            return f"column {number + 1}"


def content(wanted: Content, columns: Columns) -> planned.Content:
    """The content over the columns that it needs, which are added to `columns`."""
    match wanted:
        case Leaf():
            return leaf(wanted, columns)
        case Object():
            present = None if wanted.present is None else columns.add_presence(wanted.present)
            if wanted.optional or wanted.expanded:
                return _chosen(wanted, present, columns)
            members = tuple((name, content(value, columns)) for name, value in wanted.members)
            return planned.ObjectOf(members, present, null_shown=wanted.null_shown, trace=wanted.trace)
        case Array():
            items = tuple(content(item, columns) for item in wanted.items)
            return planned.ArrayOf(items, trace=wanted.trace)
        case Rows():
            return planned.EachRow(content(wanted.item, columns.of_rows or columns), trace=wanted.trace)
        case Each():
            index, within, item = columns.add_each(wanted)
            return planned.EachOf(index, within, item, null_shown=wanted.null_shown, trace=wanted.trace)
        case Choice():
            condition = leaf(Leaf(wanted.condition, trace=wanted.trace), columns)
            yes, no = content(wanted.yes, columns), content(wanted.no, columns)
            return planned.ChoiceOf(condition, yes, no, null_shown=wanted.null_shown, trace=wanted.trace)


def _chosen(wanted: Object, present: int | None, columns: Columns) -> planned.ObjectOf:
    """An object of whose members a request chooses."""
    members = []
    for name, value in wanted.members:
        if name in wanted.optional:
            with columns.read_by(Switch(hidden(name), on=False)):
                members.append((name, content(value, columns)))
        else:
            members.append((name, content(value, columns)))
    asked = []
    for name, value in wanted.expanded:
        with columns.read_by(Switch(expanded(name), on=True)):
            asked.append((name, content(value, columns)))
    return planned.ObjectOf(
        tuple(members),
        present,
        optional=wanted.optional,
        expanded=tuple(asked),
        null_shown=wanted.null_shown,
        trace=wanted.trace,
    )


def leaf(wanted: Leaf, columns: Columns) -> planned.FromColumn | planned.FromExpression:
    trace = tuple(dict.fromkeys((*wanted.trace, *_fields_read(wanted.expression, columns.perspective))))
    if needs_database(wanted.expression, columns.rows):
        return planned.FromColumn(columns.add(wanted.expression), null_shown=wanted.null_shown, trace=trace)
    return planned.FromExpression(wanted.expression, null_shown=wanted.null_shown, trace=trace)


def _fields_read(typed: Typed, perspective: Perspective) -> Iterator[Place]:
    """Where the fields are stated that an expression reads."""
    for node in walk(typed):
        match node:
            case Select(operand=operand, name=name) if isinstance(operand.type, Row):
                resource = perspective.checked.resources.get(operand.type.resource)
                if resource is not None and name in resource.fields:
                    yield resource.fields[name].place
            case _:
                pass


def response(wanted: Response, media_type: str | None, columns: Columns) -> planned.Response:
    """A response without an entity tag."""
    written = columns.perspective.checked.places.at("endpoints", "produces")
    return planned.Response(
        status=wanted.status,
        media_type=None if wanted.content is None else media_type,
        content=None if wanted.content is None else content(wanted.content, columns),
        headers=tuple((name, leaf(value, columns)) for name, value in wanted.headers),
        trace=(wanted.place,),
        places={} if wanted.content is None else {"content-type": written},
    )


def _kind(typed: Typed) -> tuple[type, str | None]:
    """What equal expressions have in common: their form, and the name of what they read or call."""
    return type(typed), getattr(typed, "name", None)


def choices(operation: Read | List) -> Choices | None:
    """None: nothing can be chosen."""
    chosen = Choices(operation.projection, operation.expansion)
    return chosen if given(chosen) else None


def unchosen(response: Response) -> Response:
    """The same, with nothing in it to choose."""
    return response if response.content is None else replace(response, content=_unchosen(response.content))


def _unchosen(content: Content) -> Content:
    match content:
        case Object():
            members = tuple((name, _unchosen(value)) for name, value in content.members)
            return replace(content, members=members, optional=(), expanded=())
        case Array():
            return replace(content, items=tuple(map(_unchosen, content.items)))
        case Rows():
            return replace(content, item=_unchosen(content.item))
        case Choice():
            return replace(content, yes=_unchosen(content.yes), no=_unchosen(content.no))
        case _:
            return content
