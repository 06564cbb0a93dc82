"""What a contract decides itself over rows that were stored for another: by what it gives to new rows, and by its ways
back to older versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ninefold.checked.service import Checked
from ninefold.contract.service import Contract
from ninefold.expressions.tree import All, Select, Typed, Variable, free_variables, walk
from ninefold.language.fact import Name, value_of
from ninefold.syntax.nodes import Scalar, Style
from ninefold.tools.decisions.document import Rename

Made: TypeAlias = Mapping[tuple[str, str], Typed]
"""What the contract gives to a field of a new row, and could give to one that is there already (`made`)."""


def made(checked: Checked) -> Made:
    """What reads nothing but the row itself and the time; no secret, since nobody would be shown it."""
    return {
        (resource.name, field.name): given
        for resource in checked.resources.values()
        for field in resource.fields.values()
        if field.required and field.secret is None and (given := field.on_create or field.on_change) is not None
        if _reads_the_row_alone(given, resource.name)
    }


def _reads_the_row_alone(typed: Typed, resource: str) -> bool:
    read = [each for each in walk(typed) if isinstance(each, Select)]
    fields = all(isinstance(each.operand, Variable) and each.through == "field" for each in read)
    return (
        fields and free_variables(typed) <= {resource, "now"} and not any(isinstance(each, All) for each in walk(typed))
    )


def formerly(contract: Contract) -> Iterator[Rename]:
    """The names that fields had in older versions, each as what it is called now: the newest way back first."""
    now = dict[str, str]()
    for version in (value_of(contract.versioning.versions) or ())[1:]:
        for change in value_of(version.changes) or ():
            if change.rename is None or change.to is None:
                continue
            resource, point, _ = change.rename.text.rpartition(".")
            if not point or " " in resource:
                continue
            older = f"{resource}.{change.to.text}"
            now[older] = now.pop(change.rename.text, change.rename.text)
            yield Rename(_scalar(change.to, older), _scalar(change.rename, now[older]))


def _scalar(name: Name, text: str) -> Scalar:
    return Scalar(name.span, text, text, Style.PLAIN, range(name.span.start, name.span.start + len(text) + 1))
