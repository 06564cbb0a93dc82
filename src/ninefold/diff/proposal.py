"""The changes of part 9 that keep an older contract served by a newer one; and what they cannot keep.

Nothing is proposed that was not tried: the changes are put into the newer contract, the older version is derived, and
both are compared piece by piece (`sight`). A change that the language refuses, or that brings nothing nearer, is left
out. What still differs then is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.alike import below, codes, endpoints, is_unused_code, kinds, names_below, parameters, same
from ninefold.diff.conversions import converted, of_states, shown_instead
from ninefold.diff.schemas import steps as schema_steps
from ninefold.diff.sight import VALUE, Address, Sight, apart, differing, distance, sight
from ninefold.diff.wording import (
    Step,
    Wording,
    any_value,
    expression,
    field_of,
    mapping,
    quoted,
    resource_of,
    shown_value,
    stored_name,
)
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded

Applied = tuple["Loaded | None", str]
Apply = Callable[[Sequence["Step"]], Applied]
"""The older version with some changes; or None, and why there is none."""


@dataclass(frozen=True, slots=True)
class Kept:
    """`steps` keep what can be kept. `left`: addresses at which the derived version is not the older contract. `wider`:
    fields whose values newer clients may make such as the older contract never showed."""

    steps: tuple[Step, ...]
    left: tuple[Address, ...]
    wider: tuple[Address, ...]
    refused: tuple[tuple[Step, str], ...]
    old: Sight
    above: Sight
    derived: Sight


Ways = tuple[Step, ...]
"""One change in several ways, the best first."""

_OF_PARTS: Final[dict[int, Address]] = {4: ("4",), 6: ("6", "kinds"), 7: ("7", "codes")}


def keep(old: Loaded, above: Contract, wording: Wording, apply: Apply) -> Kept:
    """`above`: the version that the changes lead back from."""
    return _Keeping(old, above, wording, apply).kept()


@dataclass
class _Keeping:
    loaded: Loaded
    above: Contract
    wording: Wording
    apply: Apply
    steps: list[Step] = field(default_factory=list)
    refused: dict[Step, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.old = self.loaded.contract
        self.was, self.now = sight(self.old), sight(self.above)
        self.derived = self.now

    def kept(self) -> Kept:
        for part, alike in ((4, endpoints), (7, codes), (6, kinds)):
            self._try(self._pairs(_OF_PARTS[part], alike))
        self._rename_fields()
        self._called()
        self._try(self._gone())
        self._try(self._added())
        for _ in range(3):
            if not self._try(self._changed()):
                break
        left = tuple(each for each in differing(self.was, self.derived) if not is_unused_code(each, self.was))
        subjects = {each.subject for each in self.steps if each.verb != "rename"}
        refused = tuple((step, why) for step, why in self.refused.items() if why and step.subject not in subjects)
        return Kept(tuple(self.steps), left, tuple(self._wider()), refused, self.was, self.now, self.derived)

    # Trying

    def _try(self, ways: Iterable[Ways]) -> bool:
        """Of each change the first way that may be and brings the two nearer: all together, else one after the
        other."""
        wanted = [tuple(way for way in each if way not in self.refused) for each in ways]
        wanted = [each for each in wanted if each and not set(each) & set(self.steps)]
        first = [each[0] for each in wanted]
        if len(wanted) > 1 and self._is_taken([*self.steps, *first]):
            return True
        taken = False
        for _ in range(2):
            for each in [each for each in wanted if not set(each) & set(self.steps)]:
                for way in each:
                    if self._is_taken([*self.steps, way]):
                        self.refused.pop(way, None)
                        taken = True
                        break
        return taken

    def _is_taken(self, steps: list[Step]) -> bool:
        found = self._tried(steps)
        if isinstance(found, str):
            self.refused[steps[-1]] = found
            return False
        if distance(self.was, found) >= distance(self.was, self.derived):
            self.refused[steps[-1]] = ""
            return False
        self.steps, self.derived = steps, found
        return True

    def _tried(self, steps: Sequence[Step]) -> Sight | str:
        derived, why = self.apply(steps)
        if derived is None:
            return why
        found = shown_instead(self.loaded, self.was, derived, steps)
        return "what is given is shown otherwise" if found is None else found

    # What has other names

    def _rename_fields(self) -> None:
        for resource in names_below(self.was, "2"):
            at: Address = ("2", resource, "fields")
            gone, come = self._gone_and_come(at)
            for name in gone:
                twins = [each for each in come if same(self.was, self.now, (*at, name), (*at, each))]
                rivals = [each for each in gone if below(self.was, (*at, each)) == below(self.was, (*at, name))]
                if len(twins) != 1 or len(rivals) != 1:
                    found = {each: self._evidence(resource, name, each) for each in come}
                    best = max(found.values(), default=0)
                    likely = come if best > 0 else twins if best == 0 and len(rivals) == 1 else ()
                    twins = [each for each in likely if found[each] == best]
                if len(twins) == 1 and self._try([(self._rename(resource, name, twins[0]),)]):
                    come = [each for each in come if each != twins[0]]

    def _rename(self, resource: str, name: str, newer: str) -> Step:
        older, other = f"{resource}.{name}", f"{resource}.{newer}"
        return Step("rename", other, (("to", quoted(name)),), note=f"or: {{remove: {other}}} and {{add: {older}, …}}")

    def _evidence(self, resource: str, name: str, newer: str) -> int:
        """By how much what uses the two becomes the same where one is the other."""
        found = self._tried([*self.steps, self._rename(resource, name, newer)])
        gone = self._tried([*self.steps, Step("remove", f"{resource}.{newer}")])
        if isinstance(found, str):
            return 0
        return self._uses(self.derived if isinstance(gone, str) else gone, resource) - self._uses(found, resource)

    def _uses(self, of: Sight, resource: str) -> int:
        at = ("2", resource, "fields")
        return sum(apart(self.was, of, each) for each in differing(self.was, of) if each[:3] != at)

    def _gone_and_come(self, at: Address) -> tuple[list[str], list[str]]:
        was, now = names_below(self.was, *at), names_below(self.derived, *at)
        return [each for each in was if each not in now], [each for each in now if each not in was]

    def _pairs(self, at: Address, alike: Callable[[Sight, Sight, Address, Address], bool]) -> Iterator[Ways]:
        """What is gone and what has come, where each is like one of the others alone."""
        gone, come = self._gone_and_come(at)
        for name in gone:
            twins = [each for each in come if alike(self.was, self.now, (*at, name), (*at, each))]
            for twin in twins if len(twins) == 1 else []:
                if [each for each in gone if alike(self.was, self.now, (*at, each), (*at, twin))] == [name]:
                    yield (Step("rename", twin, (("to", quoted(name)),)),)

    def _called(self) -> None:
        """What expressions of the newer document call otherwise."""
        fields, codes = dict(self.wording.fields), dict(self.wording.codes)
        if self.wording.said is not None:
            return
        for each in (one for one in self.steps if one.verb == "rename"):
            older = dict(each.beside)["to"]
            resource, dot, name = each.subject.partition(".")
            if each.subject in names_below(self.now, "7", "codes"):
                codes[older] = each.subject
            elif dot and resource in names_below(self.now, "2"):
                fields[resource, older] = stored_name(self.above, resource, name)
        self.wording = replace(self.wording, fields=fields, codes=codes)

    # What is not there, and what was

    def _gone(self) -> Iterator[Ways]:
        for key in self._gone_and_come(("4",))[1]:
            yield (Step("remove", key),)
        for resource in names_below(self.was, "2"):
            for name in self._gone_and_come(("2", resource, "fields"))[1]:
                yield tuple(self._without(resource, name))
        for at in (_OF_PARTS[6], _OF_PARTS[7]):
            for name in self._gone_and_come(at)[1]:
                yield (Step("remove", name),)

    def _without(self, resource: str, name: str) -> Iterator[Step]:
        own = field_of(self.above, resource, name)
        is_given = own is not None and (own.at_creation is not None or own.computed is not None)
        if self.derived[("2", resource, "fields", name)].said is True and not is_given and own is not None:
            asked = (("on create", any_value(own)),)
            yield Step("remove", f"{resource}.{name}", asked=asked, note="in a row that an older client makes")
        yield Step("remove", f"{resource}.{name}")

    def _added(self) -> Iterator[Ways]:
        for resource in names_below(self.was, "2"):
            there = names_below(self.derived, "2", resource, "fields")
            for name in names_below(self.was, "2", resource, "fields"):
                if name not in there:
                    yield tuple(self._add_field(resource, name))
            for name in names_below(self.was, "2", resource, "views"):
                if ("2", resource, "views", name) not in self.derived:
                    yield self._was("add", f"{resource}.views.{name}", ("2", resource, "views", name), resource)
        for key in names_below(self.was, "4"):
            if key not in names_below(self.derived, "4"):
                yield tuple(self._add_endpoint(key))
        for at in (_OF_PARTS[6], _OF_PARTS[7]):
            for name in self._gone_and_come(at)[0]:
                yield self._was("add", name, (*at, name), None)

    def _add_field(self, resource: str, name: str) -> Iterator[Step]:
        own, subject = field_of(self.old, resource, name), f"{resource}.{name}"
        schema = self._schema(resource, name)
        if own is None or schema is None:
            return
        computed = value_of(own.computed)
        shown = (
            ()
            if computed is None or computed.text == "null"
            else (("is", expression(self.wording.worded(computed.text))),)
        )
        yield Step("add", subject, (("was", schema), *shown))

    def _add_endpoint(self, key: str) -> Iterator[Step]:
        node = self.wording.node(("4", key), subject=key)
        if node is None:
            return
        was = (("was", self.wording.text(node, resource_of(self.old, key))),)
        yield Step("add", key, was, line=self.wording.permission(key))
        yield Step("add", key, was)

    def _was(self, verb: str, subject: str, at: Address, resource: str | None) -> Ways:
        node = self.wording.node(at, subject=subject)
        return () if node is None else (Step(verb, subject, (("was", self.wording.text(node, resource)),)),)

    # What is different

    def _changed(self) -> Iterator[Ways]:
        left = differing(self.was, self.derived)
        yield from self._parameters(left)
        whole: dict[tuple[str, ...], list[str]] = {}
        for part, *names in left:
            match part, names:
                case "3", [resource, *_]:
                    whole.setdefault(("states", resource), [])
                case "2", [resource, "fields", name, *_]:
                    whole.setdefault(("field", resource, name), [])
                case "2", [resource, "views", name]:
                    yield self._was("change", f"{resource}.views.{name}", ("2", resource, "views", name), resource)
                case "4", [key, "cases", case, name]:
                    whole.setdefault(("case", key, case), []).append(name)
                case "4", [key, name] if " " in key:
                    whole.setdefault(("endpoint", key), []).append(name)
                case "6", ["kinds", name, "payload"]:
                    whole.setdefault(("kind", name), []).append("payload")
                case "7", ["codes", name, key]:
                    whole.setdefault(("code", name), []).append(key)
        for what, keys in whole.items():
            match what:
                case ("states", resource):
                    yield tuple(of_states(resource, self.old, self.above))
                case ("field", resource, name):
                    yield from self._change_field(resource, name)
                case ("case", key, case):
                    at: Address = ("4", key, "cases", case)
                    yield from self._said(f"{key}.cases.{case}", at, keys, resource_of(self.old, key))
                case ("endpoint", key):
                    yield from self._said(key, ("4", key), keys, resource_of(self.old, key))
                case ("kind", name):
                    yield from self._said(name, ("6", "kinds", name), keys, None)
                case ("code", name):
                    yield from self._said(name, ("7", "codes", name), keys, None)

    def _said(self, subject: str, at: Address, keys: Sequence[str], resource: str | None) -> Iterator[Ways]:
        """The keys of a thing that differ, each as it was: all of them, or those that may be."""
        said = {}
        for key in keys:
            node = self.wording.node(at, key, subject=subject)
            if node is None and (*at, key) in self.was:
                continue
            said[key] = "none" if node is None else self.wording.text(node, resource)
        several = [said, *({name: text for name, text in said.items() if name != key} for key in said), *(
            {key: text} for key, text in said.items())]  # fmt: skip
        yield tuple(Step("change", subject, (("was", mapping(each)),)) for each in several if each)

    def _parameters(self, left: Sequence[Address]) -> Iterator[Ways]:
        for part, *names in left:
            if part != "4" or len(names) != 2 or names[1] not in ("query", "request headers"):
                continue
            key, kind = names
            was, now = (parameters(each, ("4", key, kind)) for each in (self.was, self.derived))
            gone, come = ([each for each in one if each not in other] for one, other in ((was, now), (now, was)))
            for name in come:
                twins = [each for each in gone if was[each] == now[name]]
                called = [Step("rename", f"{key}.{kind}.{name}", (("to", quoted(each)),)) for each in twins]
                yield (*(called if len(called) == 1 else ()), Step("remove", f"{key}.{kind}.{name}"))

    def _change_field(self, resource: str, name: str) -> Iterator[Ways]:
        own, subject, at = field_of(self.old, resource, name), f"{resource}.{name}", ("2", resource, "fields", name)
        if own is None or at not in self.derived:
            return
        differs = {each[4] for each in differing(self.was, self.derived) if each[:4] == at and len(each) > 4}
        schema = self._schema(resource, name)
        was = () if schema is None else (("was", schema),)
        shown = shown_value(self.old, resource, own)
        computed, created = value_of(own.computed), value_of(own.on_create)
        given = () if created is None else (("on create", expression(self.wording.worded(created.text))),)
        if VALUE in differs and shown:
            given = given if "on create" in differs else ()
            several = [(*was, *shown, *given), (*shown, *given), (*was, *shown), shown]
            yield tuple(Step("change", subject, each) for each in several)
        elif "computed" in differs and computed is not None:
            said = (("is", expression(self.wording.worded(computed.text))),)
            yield tuple(Step("change", subject, each) for each in ((*was, *said), said))
        elif "schema" in differs and was:
            above = field_of(self.above, resource, self._name_above(resource, name))
            yield (*converted(subject, own, above, was), Step("change", subject, was))
        elif "on create" in differs and given:
            yield (Step("change", subject, given),)

    def _schema(self, resource: str, name: str) -> str | None:
        own = field_of(self.old, resource, name)
        if own is None:
            return None
        said = own.seen.schema if own.seen is not None and own.seen.schema is not None else value_of(own.schema)
        return None if said is None or not said.node.entries else self.wording.text(said.node, None)

    def _wider(self) -> Iterator[Address]:
        """Fields with an older schema that the newer one is not within, and nothing said of the values."""
        for each in self.steps:
            if each.verb != "change" or "was" not in dict(each.beside) or each.is_instead:
                continue
            resource, _, name = each.subject.partition(".")
            at: Address = ("2", resource, "fields", name, "schema")
            if at in self.was and (own := field_of(self.above, resource, self._name_above(resource, name))) is not None:
                said = value_of(own.schema)
                if said is None or any(step.direction != "less" for step in schema_steps(self.was[at].said, said.json)):
                    yield at

    def _name_above(self, resource: str, name: str) -> str:
        for each in self.steps:
            if each.verb == "rename" and dict(each.beside)["to"] == name and each.subject.startswith(f"{resource}."):
                return each.subject.partition(".")[2]
        return name
