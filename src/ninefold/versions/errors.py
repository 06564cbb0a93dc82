"""Error codes that an older version calls otherwise, does not have, has besides, or that say something else."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from ninefold.contract.expression import Expression
from ninefold.contract.fact import Name, Shown, value_of
from ninefold.contract.versioning import Change
from ninefold.language.errors import ErrorCode
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Mapping, Scalar, Sequence
from ninefold.versions.way import Way, listed

_SAID = ("status", "title", "detail", "about", "when")


def change_code(way: Way, change: Change) -> None:
    if not way.only(change, ("code",), "an error code"):
        return
    codes, name = value_of(way.contract.errors.codes) or (), change.subject.text
    found = next((each for each in codes if (each.called or each.name) == name), None)
    if found is None and change.verb != "add":
        way.not_there(change, "an error code", [each.called or each.name for each in codes])
        return
    changed: tuple[ErrorCode, ...]
    match change.verb:
        case "rename":
            if change.to is None:
                return
            other = next((each for each in codes if (each.called or each.name) == change.to.text), None)
            if other is not None:
                way.taken(change.to.text, change.to.span, "an error code", other.span)
                return
            changed = tuple(replace(each, called=change.to.text) if each is found else each for each in codes)
        case "remove":
            assert found is not None
            _without(way, found.name)
            changed = tuple(each for each in codes if each is not found)
        case "add" if found is not None:
            way.taken(name, change.subject.span, "an error code", found.span)
            return
        case _ if change.code is None:
            way.refuse(change, f"what `{name}` was is not said", ("write it beside: `code: {status: …}`",))
            return
        case "add":
            changed = (*codes, change.code)
        case _:
            said = {key: value for key in _SAID if (value := getattr(change.code, key)) is not None}
            changed = tuple(replace(each, **said) if each is found else each for each in codes)
    if isinstance(way.contract.errors.codes, Shown):
        errors = replace(way.contract.errors, codes=listed(way.contract.errors.codes, changed))  # type: ignore[arg-type]
        way.contract = replace(way.contract, errors=errors)


def _without(way: Way, code: str) -> None:
    """What ends in a code that is not there ends in that of its condition."""
    contract = way.contract
    way.contract = replace(
        contract,
        resources=_dropped(contract.resources, code),
        states=_dropped(contract.states, code),
        endpoints=_dropped(contract.endpoints, code),
    )


def _dropped(facts: Any, code: str) -> Any:
    """Facts without the code: every `otherwise`, and each line of `errors`."""
    if isinstance(facts, tuple):
        if len(facts) == 2 and isinstance(facts[0], Name) and isinstance(facts[1], Name):
            return None if facts[1].text == code else facts
        return tuple(each for item in facts if (each := _dropped(item, code)) is not None)
    if not is_dataclass(facts) or isinstance(facts, Expression | Schema | Mapping | Scalar | Sequence | Name):
        return facts
    changed = {}
    for field in fields(facts):
        value = getattr(facts, field.name)
        if field.name == "otherwise":
            name = value.value if isinstance(value, Shown) else value
            changed[field.name] = None if isinstance(name, Name) and name.text == code else value
        else:
            changed[field.name] = _dropped(value, code)
    return replace(facts, **changed)  # type: ignore[type-var]
