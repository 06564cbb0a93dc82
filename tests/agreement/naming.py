"""A contract that says the same by names: conditions under `terms`, with parameters and without, and fields that a
resource has from another one that it `includes`. The interpreter is given the contract as it was, in which all of it is
written out, so that what the names mean is told by nothing that the service has read."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from tests.agreement.writing import NONE

READ: Final = r"(?<![\w.'$]){name}(?![\w'(:])(?<!all\({name})"
"""A name where an expression reads it: not as a member, not in a text, and not as the resource of `all(R)`."""

MACRO: Final = re.compile(r"\.(?:exists|all|exists_one|filter)\((\w+), ")
MOST: Final = 12
"""Terms of a contract."""


def named(seed: str, contract: Mapping[str, Any]) -> dict[str, Any]:
    """The same contract, said by names. The same each time of a seed."""
    return _Naming(Random(f"names {seed}"), copy.deepcopy(dict(contract))).done()


class _Naming:
    def __init__(self, random: Random, contract: dict[str, Any]) -> None:
        self.random, self.contract = random, contract
        self.terms: dict[str, str] = {}

    def done(self) -> dict[str, Any]:
        resources = self.contract["resources"]
        for name in [each for each in resources if each != "types"]:
            if self.random.random() < 0.5:
                self._include(name)
        for holder, key, names in [*self._conditions()]:
            if len(self.terms) < MOST and self.random.random() < 0.5:
                holder[key] = self._by_term(holder[key], names)
        if self.terms:
            resources["terms"] = self.terms
        return self.contract

    # ── Terms ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _conditions(self) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
        """Where conditions stand that have one resource's row to read: what holds each, its key, the names read."""
        for name, resource in self.contract["resources"].items():
            if name == "types":
                continue
            for check in resource.get("check", ()):
                yield check, "that", (name,)
            for field in resource["fields"].values():
                if field.get("type") == "boolean" and "computed" in field:
                    yield field, "computed", (name,)
        for name, states in self.contract["states"].items() if self.contract["states"] is not NONE else ():
            for transition in states["transitions"].values() if states is not NONE else ():
                if "check" in transition:
                    yield transition["check"], "that", (name,)
        for key, endpoint in self.contract["endpoints"].items():
            if " /" in key:
                yield from _of_endpoint(endpoint)
        who = self.contract["authentication"]
        for rules in who["rows"].values() if isinstance(who["rows"], Mapping) else ():
            yield from _texts(rules, (*self.contract["resources"],))
        for line in who["permissions"].values():
            yield from _texts(line, (*self.contract["resources"],))

    def _by_term(self, text: str, names: tuple[str, ...]) -> str:
        """The text, or a part of it, by a name."""
        inner = _body_of_macro(text)
        if inner is not None and self.random.random() < 0.8:
            begins, ends, variable = inner
            return text[:begins] + self._called(text[begins:ends], variable) + text[ends:]
        read = [name for name in names if re.search(READ.format(name=name), text)]
        if len(read) == 1 and self.random.random() < 0.6:
            return self._called(text, read[0])
        return self._new(text)

    def _called(self, text: str, argument: str) -> str:
        """A call of a term in which the argument goes by the name of a parameter."""
        meant = re.sub(READ.format(name=argument), "given", text)
        if len(argument) == 1 and self.random.random() < 0.6:
            # A variable of the term's own that is called as the argument is: it captures nothing.
            meant = f"[1].all({argument}, {meant})"
        name = self._new(meant, "(given)")
        if self.random.random() < 0.3:
            name = self._new(f"{name}(it)", "(it)")
        return f"{name}({argument})"

    def _new(self, text: str, parameters: str = "") -> str:
        name = f"term_{len(self.terms) + 1}"
        self.terms[name + parameters] = text
        return name

    # ── What is included ──────────────────────────────────────────────────────────────────────────────────────

    def _include(self, name: str) -> None:
        """The first fields of a resource, with what is said of them alone, from another one."""
        resource, base = self.contract["resources"][name], f"base_{name}"
        moved: list[str] = []
        for field, said in resource["fields"].items():
            if not _reads_only(str(said), name, [*moved, field]):
                break
            moved.append(field)
        moved = moved[: self.random.randint(0, min(len(moved), len(resource["fields"]) - 1))]
        if not moved:
            return
        own = re.compile(READ.format(name=name))
        common: dict[str, Any] = {"fields": {each: resource["fields"].pop(each) for each in moved}}
        required = [each for each in resource.get("required", ()) if each in moved]
        if required:
            common["required"] = required
            resource["required"] = [each for each in resource["required"] if each not in moved]
        for key, is_moved in (("unique", _all_of(moved)), ("check", lambda each: _reads_only(str(each), name, moved))):
            there = [each for each in resource.get(key, ()) if is_moved(each)]
            if there and there == resource[key]:
                common[key] = resource.pop(key)
        views = {view: shown for view, shown in resource.get("views", {}).items() if set(map(str, shown)) <= {*moved}}
        if views and views == resource["views"]:
            common["views"] = resource.pop("views")
        if resource.get("required") == []:
            del resource["required"]
        resource["includes"] = base
        self.contract["resources"][base] = _each_text(common, lambda text: own.sub(base, text))


def _of_endpoint(endpoint: Mapping[str, Any]) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    does = endpoint.get("does", "")
    acted_on = (does if isinstance(does, str) else does[0]).rpartition(" ")[2]
    checks = endpoint.get("check", ())
    for check in [checks] if isinstance(checks, Mapping) else checks:
        yield check, "that", (acted_on,)
    if isinstance(endpoint.get("where"), str) and " == caller." not in endpoint["where"]:
        yield endpoint, "where", (acted_on,)
    for name, parameter in endpoint.get("query", {}).items():
        if isinstance(parameter, str):
            yield endpoint["query"], name, (acted_on,)


def _texts(rules: Any, names: tuple[str, ...]) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    if isinstance(rules, Mapping):
        yield from ((rules, who, names) for who, text in rules.items() if isinstance(text, str))


def _body_of_macro(text: str) -> tuple[int, int, str] | None:
    """Where the condition of the first macro begins and ends, and its variable."""
    found = MACRO.search(text)
    if found is None:
        return None
    depth = 1
    for at in range(found.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return found.end(), at, found[1]
    return None


def _reads_only(text: str, resource: str, fields: list[str]) -> bool:
    """Whether all that a text reads of a row of the resource are these fields, and none of a row as a whole."""
    whole = re.findall(READ.format(name=resource) + r"(\.\w+)?", text)
    return all(each[1:] in fields for each in whole)


def _all_of(moved: list[str]) -> Callable[[Any], bool]:
    return lambda fields: set(fields) <= {*moved}


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case Mapping():
            return {name: _each_text(each, change) for name, each in value.items()}
        case list():
            return [_each_text(each, change) for each in value]
        case str():
            return change(value)
        case _:
            return value
