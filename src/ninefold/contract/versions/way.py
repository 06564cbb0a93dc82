"""What is remembered on the way from one version to the one below it: the contract as it has become, and what was
wrong with a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Protocol, TypeVar

from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import NO_SUCH_CHANGE, NOT_THERE, TAKEN
from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Shown, StatedNone, value_of
from ninefold.language.resources import Field, Resource
from ninefold.language.versioning import Change, Version


class Placed(Protocol):
    """What stands at a place."""

    @property
    def span(self) -> Span: ...


T = TypeVar("T")
S = TypeVar("S", bound=Placed)

OF_FIELDS = ("is", "on create", "stored")
"""Keys of a change that speak of a field."""


@dataclass
class Way:
    """`newest`: the contract that the document describes. `keys`: of the endpoints that some version above has, but for
    those that are only called so. `moved`: the endpoints that have another key in the version above, by their keys
    here. `before`: the changes of the versions above."""

    newest: Contract
    contract: Contract
    version: Version
    keys: set[str]
    before: tuple[Change, ...] = ()
    diagnostics: list[Diagnostic] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    # What is wrong

    def say(self, code: Code, message: str, *labels: Label, help: tuple[str, ...] = ()) -> None:
        self.diagnostics.append(Diagnostic(code, message, labels, help))

    def not_there(self, change: Change, what: str, among: Iterable[str]) -> None:
        names = tuple(among)
        text = change.subject.text
        if (found := self._renamed(change, names)) is not None:
            before, name = found
            message = f"`{text}` is called `{name}` once it was renamed"
            self.say(NOT_THERE, message, Label(change.subject.span), Label(before.subject.span, "renamed here"))
            return
        label = Label(change.subject.span, f"not in the version above `{self.version.name}`")
        self.say(NOT_THERE, f"`{text}` is not {what} of the version above", label, help=did_you_mean(text, names))

    def _renamed(self, change: Change, names: Sequence[str]) -> tuple[Change, str] | None:
        """The change further up by which what is meant, one of these, has another name, and that name: a parameter is
        renamed with the field that it is called as."""
        text, found = change.subject.text, None
        of = {each.name: value_of(each.fields) or () for each in value_of(self.newest.resources.resources) or ()}
        fields = {f"{name}.{each.name}" for name, own in of.items() for each in own}
        for before in (*self.before, *(value_of(self.version.changes) or ())):
            parameters, _, parameter = text.rpartition(".")
            name, to = before.subject.text, before.to
            if before is change:
                break
            if before.verb == "rename" and to is not None and name.rpartition(".")[2] == parameter != "":
                if (called := f"{parameters}.{to.text}") in names and parameters.endswith(".query"):
                    text, found = called, before
                    continue
            if before.verb == "add" and before.kind is None and name.partition(".")[0] in of:
                fields.add(name)
            if before.verb != "rename" or to is None:
                continue
            called = f"{name.partition('.')[0]}.{to.text}" if name in fields else to.text
            if name in fields:
                fields.add(called)
            if text == name or text.startswith(name + "."):
                text, found = called + text[len(name) :], before
        return None if found is None else (found, text)

    def taken(self, name: str, at: Span, what: str, first: Span) -> None:
        message = f"the version `{self.version.name}` has {what} `{name}` already"
        self.say(TAKEN, message, Label(at, "taken"), Label(first, "this one"))

    def refuse(self, change: Change, message: str, help: tuple[str, ...] = ()) -> None:
        self.say(NO_SUCH_CHANGE, message, Label(change.subject.span), help=help)

    def only(self, change: Change, keys: tuple[str, ...], what: str) -> bool:
        """Whether a change says only what can be said of such a thing."""
        odd = [key for key in OF_FIELDS if key not in keys and change.node.get(key) is not None]
        for key in odd:
            message = f"`{key}` says nothing of {what}"
            self.say(NO_SUCH_CHANGE, message, Label(change.said(key)), help=("leave it out",))
        return not odd

    # The contract

    def resources(self) -> tuple[Resource, ...]:
        return value_of(self.contract.resources.resources) or ()

    def resource(self, name: str) -> Resource | None:
        return next((each for each in self.resources() if each.name == name), None)

    def with_resources(self, change: Callable[[Resource], Resource]) -> None:
        part = self.contract.resources
        self.contract = replace(self.contract, resources=replace(part, resources=each_in(part.resources, change)))

    def with_fields(self, resource: str, fields: Iterable[Field]) -> None:
        changed = tuple(fields)

        def one(each: Resource) -> Resource:
            return replace(each, fields=in_fact(each.fields, lambda _: changed)) if each.name == resource else each

        self.with_resources(one)

    def endpoints(self) -> tuple[Endpoint, ...]:
        return value_of(self.contract.endpoints.endpoints) or ()

    def with_endpoints(self, endpoints: Iterable[Endpoint]) -> None:
        part, changed = self.contract.endpoints, tuple(endpoints)
        self.contract = replace(self.contract, endpoints=replace(part, endpoints=holding(part.endpoints, changed)))


def in_fact(fact: Fact[T] | None, change: Callable[[T], T]) -> Fact[T] | None:
    """A fact with its value changed; one that is not shown stays as it is."""
    return replace(fact, value=change(fact.value)) if isinstance(fact, Shown) else fact


def holding(fact: Fact[tuple[S, ...]] | None, items: tuple[S, ...]) -> Fact[tuple[S, ...]] | None:
    """A fact that holds these instead. Where the version above has none, an older one may have had some all the same;
    what is not shown stays so."""
    if fact is None or isinstance(fact, StatedNone):
        return Shown(items, items[0].span) if items else fact
    return in_fact(fact, lambda _: items)


def each_in(fact: Fact[tuple[T, ...]] | None, change: Callable[[T], T | None]) -> Fact[tuple[T, ...]] | None:
    """A list with each of its items changed; without those of which nothing is left."""
    return in_fact(fact, lambda items: tuple(found for each in items if (found := change(each)) is not None))
