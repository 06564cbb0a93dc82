"""From a response's content to columns of a statement and a tree over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ninefold.checked.endpoints import Array, Content, Each, Leaf, Object, Response, Rows
from ninefold.diagnostics.source import Place
from ninefold.expressions.reads import needs_database
from ninefold.expressions.rewrite import walk
from ninefold.expressions.to_sql import Item
from ninefold.expressions.tree import Call, Select, Typed, Variable
from ninefold.plan import responses as planned
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.statement import ResultColumn
from ninefold.planner.perspective import Perspective
from ninefold.planner.places import stated, traced
from ninefold.sql.dialect import ROWS
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

    def add(self, typed: Typed) -> int:
        """The number of the column that gives this expression."""
        for index, known in enumerate(self.expressions):
            if known == typed:
                return index
        self.expressions.append(typed)
        self.results.append(ResultColumn(_title(typed, len(self.results)), typed.type))
        self.fragments.append(self.perspective.shown(typed, self.rows))
        return len(self.results) - 1

    def add_each(self, wanted: Each) -> tuple[int, tuple[ResultColumn, ...], planned.Content]:
        """The number of the column that gives the items of an array, what it holds of each, and how that is shown."""
        items = self.perspective.items(wanted.range, self.rows)
        within = Columns(self.perspective, {**self.rows, wanted.variable: items.item})
        item = content(wanted.item, within)
        types = [each.type for each in within.results]
        self.expressions.append(Call("each", [wanted.range, *within.expressions], ROWS))
        self.results.append(ResultColumn(_title(wanted.range, len(self.results)), ROWS))
        self.fragments.append(items.gathered(within.fragments, types, self.perspective.dialect))
        return len(self.results) - 1, tuple(within.results), item

    def add_revision(self, resource: str) -> int:
        """The number of the column that gives the revision of a row, from which its entity tag is made."""
        self.expressions.append(Variable(REVISION_COLUMN, Text()))
        self.results.append(ResultColumn("revision", Text()))
        self.fragments.append(Fragment(f"{identifier(str(self.rows[resource]))}.{identifier(REVISION_COLUMN)}"))
        return len(self.results) - 1

    def add_presence(self, row: Typed) -> int | None:
        """The number of a column that has a value if a row that is referred to is there and seen; None if the row
        cannot be missing."""
        assert isinstance(row.type, Row)
        resource = self.perspective.checked.resources[row.type.resource]
        alias = f"present {len(self.results) + 1}"
        seen = self.perspective.present(resource.name, alias)
        if seen is None:
            return self.add(row) if row.type.nullable else None
        table, key = identifier(resource.name), identifier(resource.identifier[0])
        found = f"(SELECT 1 FROM {table} AS {identifier(alias)} WHERE {identifier(alias)}.{key} = "
        self.expressions.append(Call("present", [row], Boolean()))
        self.results.append(ResultColumn(f"{_title(row, len(self.results))} is there", Boolean(nullable=True)))
        self.fragments.append(found + self.perspective.shown(row, self.rows) + " AND (" + seen + "))")
        return len(self.results) - 1

    @property
    def listed(self) -> Fragment:
        """What stands after SELECT or RETURNING: a row that is there is found, also where nothing of it is shown."""
        return join(", ", self.fragments) if self.fragments else Fragment("1")


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
            members = tuple((name, content(value, columns)) for name, value in wanted.members)
            return planned.ObjectOf(members, present, wanted.null_shown, trace=traced(*wanted.trace))
        case Array():
            items = tuple(content(item, columns) for item in wanted.items)
            return planned.ArrayOf(items, trace=traced(*wanted.trace))
        case Rows():
            return planned.EachRow(content(wanted.item, columns), trace=traced(*wanted.trace))
        case Each():
            index, within, item = columns.add_each(wanted)
            return planned.EachOf(index, within, item, trace=traced(*wanted.trace))


def leaf(wanted: Leaf, columns: Columns) -> planned.FromColumn | planned.FromExpression:
    trace = traced(*dict.fromkeys((*wanted.trace, *_fields_read(wanted.expression, columns.perspective))))
    if needs_database(wanted.expression, columns.rows):
        return planned.FromColumn(columns.add(wanted.expression), wanted.null_shown, trace=trace)
    return planned.FromExpression(wanted.expression, wanted.null_shown, trace=trace)


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
    written = stated(columns.perspective.checked.places, "endpoints", "responses", "media type")
    return planned.Response(
        status=wanted.status,
        media_type=None if wanted.content is None else media_type,
        content=None if wanted.content is None else content(wanted.content, columns),
        headers=tuple((name, leaf(value, columns)) for name, value in wanted.headers),
        trace=traced(wanted.place),
        places={} if wanted.content is None else {"content-type": written},
    )
