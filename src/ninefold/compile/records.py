"""Part 2: rows that the contract itself states."""

from __future__ import annotations

from ninefold.checked.contents import Response
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import BodyLeaf, Takes, Update
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.compile.endpoints.update import update
from ninefold.compile.operator import adding_with_numbers
from ninefold.compile.perspective import OPERATOR, Perspective
from ninefold.compile.places import traced
from ninefold.compile.which_rows import by_identifier
from ninefold.language.verbs import VERBS
from ninefold.plan.operator import Record, Records
from ninefold.plan.writes import Update as Change
from ninefold.sql.dialect import Dialect


def records(checked: Checked, dialect: Dialect) -> Records | None:
    """None: the contract states none."""
    if not checked.records:
        return None
    stated: dict[str, dict[str, None]] = {}
    for each in checked.records:
        own = checked.resources[each.resource]
        stated.setdefault(own.name, {}).update(
            dict.fromkeys(name for name in each.values if name not in own.identifier)
        )
    perspective = Perspective(checked, OPERATOR, dialect)
    return Records(
        rows=tuple(Record(each.resource, dict(each.values), traced(each.place)) for each in checked.records),
        changes={
            name: _change(checked.resources[name], tuple(fields), perspective)
            for name, fields in stated.items()
            if fields
        },
        adding={
            name: adding
            for name in stated
            if any(checked.resources[name].fields[each].serial for each in checked.resources[name].identifier)
            and (adding := adding_with_numbers(checked.resources[name], checked, dialect)) is not None
        },
    )


def _change(resource: Resource, fields: tuple[str, ...], perspective: Perspective) -> Change:
    operation = Update(
        key=f"update {resource.name}",
        segments=by_identifier(resource, perspective.checked),
        place=resource.place,
        kind=VERBS["update"],
        resource=resource.name,
        response=Response(204, None, (), resource.place),
        takes=Takes(body=tuple(BodyLeaf((name,), name) for name in fields)),
    )
    return update(operation, Admission(OPERATOR, None, False, resource.place), perspective)
