"""Tables in which something has another name."""

from __future__ import annotations

from msgspec import structs

from ninefold.plan.schema import Table
from ninefold.values import Row


def with_column_named(table: Table, of: str, old: str, new: str) -> Table:
    """A table where a column of the table `of` has another name."""
    references = tuple(
        structs.replace(
            each,
            column=new if table.name == of and each.column == old else each.column,
            key=new if each.table == of and each.key == old else each.key,
        )
        for each in table.references
    )
    if table.name != of:
        return structs.replace(table, references=references)

    def now(name: str) -> str:
        return {old: new, f"-{old}": f"-{new}"}.get(name, name)

    return structs.replace(
        table,
        references=references,
        columns=tuple(structs.replace(each, name=now(each.name)) for each in table.columns),
        key=tuple(map(now, table.key)),
        indexes=tuple(structs.replace(each, columns=tuple(map(now, each.columns))) for each in table.indexes),
    )


def named(table: Table, old: str, new: str) -> Table:
    """A table where a resource has another name."""
    row, renamed = Row(resource=old), Row(resource=new)
    return structs.replace(
        table,
        name=new if table.name == old else table.name,
        columns=tuple(structs.replace(each, type=renamed if each.type == row else each.type) for each in table.columns),
        references=tuple(
            structs.replace(each, table=new if each.table == old else each.table) for each in table.references
        ),
    )
