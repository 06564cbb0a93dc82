"""Functions of the operator's (meaning "functions"): what one is called with, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from tests.reference.bodies import Given
from tests.reference.expressions import Fails, Reading
from tests.reference.failures import Broken, Failure
from tests.reference.values import Path, broken_rules
from tests.reference.writes import alone, of_request, unmade

from ninefold.checked.endpoints import Argument, Call, Endpoint
from ninefold.expressions.tree import Select

INTERNAL: Final = (Failure("internal"),)
Function: TypeAlias = Callable[..., Any]


class Refuses(Exception):
    """A function refuses, with a code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def called(endpoint: Endpoint, given: Given, reading: Reading, functions: Mapping[str, Function]) -> Any:
    """The root `result`; or the Failures that come of it."""
    call = endpoint.call
    assert call is not None
    arguments: dict[str, Any] = {}
    wrong: list[Failure] = []
    inside = reading.also(request={**reading.names["request"], "body": _body(endpoint, given)})
    for each in call.arguments:
        rules: list[tuple[Path, str]]
        try:
            value = alone(each.value, inside)
            rules = [((), "required")] if value is None and not each.nullable else []
            rules += [] if value is None else list(broken_rules(each.schema, value))
        except Fails:
            value, rules = None, [((), "stored")]
        wrong += [_refused(each, path, rule, endpoint) for path, rule in rules]
        arguments[each.name] = value
    return tuple(dict.fromkeys(wrong)) or _outcome(call, functions[call.function], arguments)


def _refused(argument: Argument, path: Path, rule: str, endpoint: Endpoint) -> Failure:
    """What the function does not take: `invalid` where the request gives what it is made of; else it is as of a check
    without a code."""
    resource, places = endpoint.operation.resource, tuple(dict.fromkeys(of_request(argument.value)))
    copied = path if isinstance(argument.value, Select) else ()
    if len(places) != 1:
        return unmade(places, endpoint, resource, rule)
    [(place, way)] = places
    assert endpoint.call is not None
    field = next((name for name, at in endpoint.call.fields if place == "body" and way[: len(at)] == at), None)
    if field is None:
        found = unmade(places, endpoint, resource, rule)
        return replace(found, fields=(Broken(place, (*way, *copied), rule),))
    leaf = next(each for each in endpoint.takes.body or () if each.field == field)
    at_last = (*leaf.pointer, *way[len(leaf.pointer) :], *copied)
    return Failure("invalid", f"{resource}.{field}", fields=(Broken("body", at_last, rule),))


def _outcome(call: Call, function: Function, arguments: Mapping[str, Any]) -> Any:
    try:
        value = function(**arguments)
    except Refuses as refusal:
        return (Failure("check", code=refusal.code),) if refusal.code in call.refuses else INTERNAL
    except Exception:
        return INTERNAL
    return INTERNAL if list(broken_rules(call.gives, value)) else {call.function: value}


def _body(endpoint: Endpoint, given: Given) -> dict[str, Any]:
    """What the body gives, to fields too."""
    members: dict[str, Any] = dict(given.others)
    for leaf in endpoint.takes.body or ():
        if leaf.field in given.values:
            around = members
            for name in leaf.pointer[:-1]:
                around = around.setdefault(name, {})
            around[leaf.pointer[-1]] = given.values[leaf.field]
    return members
