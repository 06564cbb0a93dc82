"""Functions of the operator's (meaning "functions"): what one is called with, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.reference.bodies import Given
from tests.reference.expressions import Reading
from tests.reference.failures import Broken, Failure
from tests.reference.values import Path, broken_rules

from ninefold.checked.endpoints import Call, Endpoint

Function: TypeAlias = Callable[..., Any]


class Refuses(Exception):
    """A function refuses, with a code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def called(endpoint: Endpoint, given: Given, reading: Reading, functions: Mapping[str, Function]) -> Any:
    """The root `result`; or the Failure that comes of the call."""
    call = endpoint.call
    assert call is not None
    arguments: dict[str, Any] = {}
    wrong: list[Broken] = []
    inside = reading.also(request={**reading.names["request"], "body": _body(endpoint, given)})
    for each in call.arguments:
        value = inside.value_or_none(each.value)
        rules: list[tuple[Path, str]] = [((), "required")] if value is None and not each.nullable else []
        rules += [] if value is None else list(broken_rules(each.schema, value))
        if rules and not each.given:
            return Failure("internal")
        wrong += [Broken(each.given[0], (*each.given[1:], *path), rule) for path, rule in rules]
        arguments[each.name] = value
    if wrong:
        return Failure("invalid", fields=tuple(wrong))
    return _outcome(call, functions[call.function], arguments)


def _outcome(call: Call, function: Function, arguments: Mapping[str, Any]) -> Any:
    try:
        value = function(**arguments)
    except Refuses as refusal:
        return Failure("check", code=refusal.code) if refusal.code in call.refuses else Failure("internal")
    except Exception:
        return Failure("internal")
    return Failure("internal") if list(broken_rules(call.gives, value)) else {call.function: value}


def _body(endpoint: Endpoint, given: Given) -> dict[str, Any]:
    """What the body gives, to fields too."""
    members: dict[str, Any] = {}
    for leaf in endpoint.takes.body or ():
        if leaf.field in given.values:
            around = members
            for name in leaf.pointer[:-1]:
                around = around.setdefault(name, {})
            around[leaf.pointer[-1]] = given.values[leaf.field]
    return members
