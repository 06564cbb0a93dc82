"""What a contract decides itself over rows that were stored for another: by what it gives to new rows, and by its ways
back to older versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, TypeAlias

from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.contract.service import KINDS, Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import ast
from ninefold.expressions.ast import every
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.tree import All, Select, Typed, Variable, free_variables, walk, words
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name, value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.schema import Schema
from ninefold.syntax.nodes import Scalar, Style
from ninefold.tools.decisions.document import Rename
from ninefold.values import Type

Made: TypeAlias = Mapping[tuple[str, str], Typed]
"""What the contract gives to a field of a new row, and could give to one that is there already (`made`)."""


def made(checked: Checked) -> Made:
    """What reads nothing but the row itself and the time; no secret, since nobody would be shown it."""
    return {
        (resource.name, field.name): given
        for resource in checked.resources.values()
        for field in resource.fields.values()
        if field.required or field.name in resource.primary_key
        if field.secret is None and (given := field.on_create or field.on_change) is not None
        if _reads_the_row_alone(given, resource.name)
    }


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is stored of a `value` of the type `given`; `written`: as the contract has it."""

    given: Type
    stored: Typed
    written: Expression

    def of(self, name: str) -> str:
        """As a document of an upgrade has it."""
        text = self.written.text
        named = (each for each in every(self.written.ast) if isinstance(each, ast.Name) and each.name == "value")
        mentions = {(each.start, each.end) for each in named if text[each.start : each.end] == "value"}
        for start, end in sorted(mentions, reverse=True):
            text = f"{text[:start]}{name}{text[end:]}"
        return text


@dataclass(frozen=True, slots=True)
class Older:
    """What part 9 says of the rows that an older version stored, by resource and field as they are called now. `made`:
    what they have of a field that they lack, of `new` ones all of them. `stored`: of one that held something else,
    its type then, and what is stored of such a `value`. `words`: the values that are called otherwise now, each
    with what it is; in `states` it is a state."""

    version: str
    made: Made = field(default_factory=dict)
    new: frozenset[tuple[str, str]] = frozenset()
    stored: Mapping[tuple[str, str], Conversion] = field(default_factory=dict)
    words: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways from older versions to the newest, the newest first. `since`: the version that the rows are of, as the
    contract says that they were served with last: `newest`, one of `older`, or another one; None: none is kept."""

    newest: str = ""
    older: tuple[Older, ...] = ()
    names: tuple[Rename, ...] = ()
    since: str | None = None

    @property
    def taken(self) -> Older | None:
        """The version that the rows are known to be of, where that is an older one."""
        return next((each for each in self.older if each.version == self.since), None)

    @property
    def is_known(self) -> bool:
        """Whether it is known of which version the rows are."""
        return self.since is None or self.since == self.newest or self.taken is not None

    def served_with(self, kept: tuple[str, str] | None) -> Ways:
        """With what the contract says that the rows were served with last, by its name and its text."""
        if kept is None or not self.older:
            return self
        versions = value_of(compile_document(kept[0], kept[1].encode()).contract.versioning.versions) or ()
        return replace(self, since=versions[0].name if versions else "")

    def others(self, kept: tuple[str, str] | None) -> Iterator[tuple[str, str, str]]:
        """The same of rows that were served last with what is kept (`ninefold.runtime.operator.audit.Others`)."""
        return self.served_with(kept).held_otherwise()

    def held_otherwise(self) -> Iterator[tuple[str, str, str]]:
        """Fields that hold something else in rows that nobody has moved: the resource, the field, and a sentence."""
        of = self.older if not self.is_known else tuple(filter(None, (self.taken,)))
        for (resource, name), conversion, versions in conversions(of):
            yield resource, name, self.what_was(conversion, versions)
        for each in of:
            for resource, name in each.new if self.is_known else ():
                value = each.made[resource, name]
                yield resource, name, f"is new, and part 9 says of rows of `{each.version}`: `{words(value)}`"

    def what_was(self, conversion: Conversion, versions: Sequence[str]) -> str:
        held = " and ".join(f"`{each}`" for each in versions)
        unknown = "" if self.is_known else ", and it is not known whether these rows are of that version"
        return f"held something else in {held}: part 9 stores `{conversion.written.text}` of it{unknown}"


NO_WAYS: Final = Ways()


def conversions(of: Iterable[Older]) -> Iterator[tuple[tuple[str, str], Conversion, tuple[str, ...]]]:
    """Fields that held something else, each with what is stored of it, and the versions of which that is said: what is
    said of several alike is one thing."""
    found = dict[tuple[tuple[str, str], str, str], tuple[Conversion, tuple[str, ...]]]()
    for older in of:
        for field_, conversion in older.stored.items():
            alike = field_, conversion.written.text, repr(conversion.given)
            first, versions = found.get(alike, (conversion, ()))
            found[alike] = first, (*versions, older.version)
    for (field_, _, _), (conversion, versions) in found.items():
        yield field_, conversion, versions


def new_states(wanted: Schema, kept: tuple[str, str] | None) -> Mapping[str, tuple[str, ...]]:
    """The states of each resource that the contract had not that its rows were served with last (`Outcome.states`);
    none where none is kept that can be read."""
    if kept is None or not (now := _states(wanted)):
        return {}
    plan = compile_document(kept[0], kept[1].encode()).plan
    before = {} if plan is None else _states(plan.schema)
    return {name: tuple(each for each in now[name] if each not in before[name]) for name in now.keys() & before.keys()}


def _states(schema: Schema) -> dict[str, tuple[str, ...]]:
    return {table.name: table.machine.states for table in schema.tables if table.machine is not None}


def ways_of(loaded: Loaded) -> Ways:
    """What part 9 says of older versions; of those that have errors or gaps, nothing."""
    versions = value_of(loaded.contract.versioning.versions) or ()
    if loaded.checked is None or not versions:
        return NO_WAYS
    older = tuple(
        _older(each.version, each.checked, loaded.checked, _written(each.contract))
        for each in loaded.older
        if each.checked is not None
    )
    return Ways(versions[0].name, older, tuple(formerly(loaded.contract)))


def _older(version: str, older: Checked, newest: Checked, written: Mapping[tuple[str, str], Expression]) -> Older:
    made, new = dict[tuple[str, str], Typed](), set[tuple[str, str]]()
    stored = dict[tuple[str, str], Conversion]()
    called = dict[tuple[str, str], Mapping[str, str]]()
    for name, resource in newest.resources.items():
        then = older.resources.get(name)
        for own in resource.fields.values():
            was = None if then is None else then.fields.get(own.name)
            if then is None or was is None or own.secret is not None or not own.stored:
                continue
            given, seen = was.on_create, was.seen
            if given is not None and given != own.on_create and _reads_the_row_alone(given, name):
                made[name, own.name] = given
                new |= {(name, own.name)} if was.called is None else set()
            if seen is None or seen.instead is None:
                continue
            said = written.get((name, own.name))
            if seen.stored is not None and seen.given is not None and said is not None:
                stored[name, own.name] = Conversion(seen.given, seen.stored, said)
            elif found := _other_words(resource, own, then.fields[seen.instead].computed):
                called[name, own.name] = found
    return Older(version, made, frozenset(new), stored, called)


def _written(contract: Contract) -> dict[tuple[str, str], Expression]:
    own = contract.subscribed
    kinds = {KINDS: own.given} if own is not None and own.renames else {}
    return kinds | {
        (resource.name, field.name): field.seen.stored
        for resource in value_of(contract.resources.resources) or ()
        for field in value_of(resource.fields) or ()
        if field.seen is not None and field.seen.stored is not None
    }


def _other_words(resource: Resource, own: Field, shown: Typed | None) -> Mapping[str, str]:
    """Of each value that was shown in the place of another, and is none any more: the one that it stood for, where it
    stood for one alone. There are as many as the contract lists."""
    machine = resource.machine
    listed = machine.states if machine is not None and machine.field == own.name else own.schema.get("enum", ())
    if shown is None or not _reads(shown, resource.name, own.name):
        return {}
    work, found = compile(shown), dict[str, list[str]]()
    for each in (one for one in listed if isinstance(one, str)):
        try:
            was = work({resource.name: {own.name: each}})
        except EvaluationError:
            continue
        if isinstance(was, str) and was not in listed:
            found.setdefault(was, []).append(each)
    return {was: now[0] for was, now in found.items() if len(now) == 1}


def _reads(typed: Typed, resource: str, name: str) -> bool:
    """Whether an expression reads this field of the row alone."""
    return (
        _reads_the_row_alone(typed, resource)
        and {resource} == free_variables(typed)
        and {name} == {each.name for each in walk(typed) if isinstance(each, Select)}
    )


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
