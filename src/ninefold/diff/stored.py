"""Fields that are stored under another name: where a plan names them to the database, and to nobody else.

What a version shows and takes is called as that version calls it. So two plans do the same where the one is the other
with these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from ninefold.diff.changes import Change
from ninefold.diff.flows import OfField
from ninefold.diff.plain import OfStruct, is_of
from ninefold.expressions.tree import Select
from ninefold.plan.statement import Statement

StoredNames: TypeAlias = Mapping[OfField, str]
"""Fields of the newer of two contracts that the older one stores under other names, each with that name."""

_FIELD: Final = "RESOURCE.fields.FIELD"

_NAMING: Final = frozenset(("field", "was", "when", "unless", "[key]", "[again]", "[reads]", "[[anew]]"))
"""The members of a plan that name columns of the resource it is about, or switches by them; `[key]`: items of `key`."""

_QUALIFIED: Final = frozenset(("name of [columns]", "subject"))
"""Those that name a column with its resource: `conflict note.title`."""

_STORED: Final = frozenset(("$new", "$row", "$given", "$was"))
"""The variables of a plan whose members are columns."""

_ALIAS: Final = re.compile(r'"([^"]+)" AS "?([^" ,)]+(?: [^" ,)]+)*)"?')
_COLUMN: Final = re.compile(r'(?:"?(?P<of>[\w$]+(?: [\w$]+)*)"?\.)?"(?P<name>[^"]+)"(?!\.)')
_WORDS: Final = re.compile(r"(?:(?P<of>\w+)\.)?(?P<name>\w+)")


def renamed_fields(changes: Iterable[Change]) -> StoredNames:
    """The fields of the newer contract that had another name in the older one, each with that name."""
    return {
        (each.names[0], each.new.called): each.old.called
        for each in changes
        if each.part == 2 and each.key.path == _FIELD and each.how == "renamed" and each.old and each.new
    }


def with_names(piece: Any, names: StoredNames) -> Any:
    """A piece of a newer plan, without its places, as if fields were stored under the names that they had."""
    if not names:
        return piece
    admissions = piece.get("admissions", ()) if isinstance(piece, OfStruct) else ()
    operations = (each.get("operation") or {} for each in admissions)
    acted_on = {each.get("resource", "") for each in operations}
    return _within(piece, names, acted_on.pop() if len(acted_on) == 1 else "", "")


def _within(plain: Any, names: StoredNames, resource: str, at: str) -> Any:
    """`resource`: whose rows it is about; `at`: the member that it stands at, of what has members."""
    match plain:
        case {"pieces": [*pieces]} if is_of(plain, Statement):
            aliases = {alias: table for each in pieces for table, alias in _ALIAS.findall(each["text"])}
            said = [_piece(each, names, resource, aliases) for each in pieces]
            return plain.with_others({**_members(plain, names, resource, at), "pieces": said})
        case {"operand": {"node": "variable", "name": variable, "type": of_type}, "name": name} if is_of(plain, Select):
            of = resource if variable in _STORED or " " in name else of_type.get("resource", "")
            return plain.with_others({**plain, "name": _called(name, names, of)})
        case OfStruct():
            of = plain.get("resource")
            return plain.with_others(_members(plain, names, of if isinstance(of, str) else resource, at))
        case dict():
            return {name: _within(each, names, resource, "") for name, each in plain.items()}
        case list():
            return [_within(each, names, resource, f"[{at}]") for each in plain]
        case str() if at in _NAMING or at in _QUALIFIED:
            return _called(plain, names, resource)
        case _:
            return plain


def _members(plain: OfStruct, names: StoredNames, resource: str, at: str) -> dict[str, Any]:
    whose = {"name": f"name of {at}"}
    return {name: _within(each, names, resource, whose.get(name, name)) for name, each in plain.items()
            if name != "pieces"}  # fmt: skip


def _piece(piece: OfStruct, names: StoredNames, resource: str, aliases: Mapping[str, str]) -> Any:
    def column(found: re.Match[str]) -> str:
        name, of = found["name"], resource if found["of"] is None else aliases.get(found["of"], found["of"])
        # What has a space is made for a field of the resource acted on: `"target owner"`, `"new title"`.
        before = found[0][: found.start("name") - found.start()]
        return _called(before, names, resource) + _called(name, names, resource if " " in name else of) + '"'

    said = {**_members(piece, names, resource, "piece"), "text": _COLUMN.sub(column, piece["text"])}
    return piece.with_others(said)


def _called(said: str, names: StoredNames, resource: str) -> str:
    """A text with the names that fields had: of those of the resource, and of what stands behind another one's."""

    def word(found: re.Match[str]) -> str:
        name = names.get((found["of"] or resource, found["name"]), found["name"])
        return name if found["of"] is None else f"{found['of']}.{name}"

    return _WORDS.sub(word, said)
