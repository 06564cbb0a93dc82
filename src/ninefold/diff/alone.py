"""What one difference does without the others: it alone is made in the old contract, or taken back in the new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.answers import Met
from ninefold.diff.changes import Change, Place, Route
from ninefold.diff.companions import companions, newest_alone
from ninefold.diff.meaning import NOTHING, Felt, Meaning, felt, meaning, of_older
from ninefold.diff.precise import met, reached
from ninefold.diff.shown import shows_all_of
from ninefold.diff.sight import differing, sight
from ninefold.diff.stored import StoredNames, renamed_fields
from ninefold.language.question import OpenQuestion
from ninefold.pipeline import Loaded, compile_tree
from ninefold.plan.service import ServicePlan
from ninefold.syntax.nodes import Document, Mapping, Node, is_alike
from ninefold.syntax.nodes import Sequence as SequenceNode

T = TypeVar("T")

MOST: int = 120
"""How many differences are looked at alone; more are judged by all that is felt."""


@dataclass(frozen=True, slots=True)
class Alone:
    """What is felt of a difference, and met; the gaps that it opens and closes. `known`: it could be made alone; else
    it is all that is felt of all of them. `reached`: the endpoints that change other rows for it."""

    felt: Felt
    met: dict[Met, list[str]]
    opened: tuple[OpenQuestion, ...]
    closed: tuple[OpenQuestion, ...]
    before: ServicePlan
    """What it is compared with: the old contract, or that beside others of the differences; the new one without it."""
    plan: ServicePlan | None = None
    """The old contract with it alone; None: only the new one without it could be made."""
    known: bool = True
    reached: tuple[str, ...] = ()
    adds: bool = False
    newest: bool = False
    """It is made beside others, if at all, and what it does to older versions is not known."""


@dataclass(frozen=True)
class _Compiled:
    """A contract that can be served, and what it does."""

    loaded: Loaded
    plan: ServicePlan
    meaning: Meaning

    @cached_property
    def asked(self) -> frozenset[tuple[str, str]]:
        """What is open in it."""
        return frozenset(map(_question, self.loaded.open_questions))


class Both:
    """The two contracts as what they do."""

    def __init__(self, old: Loaded, new: Loaded, changes: Sequence[Change]) -> None:
        assert old.plan is not None and new.plan is not None
        self.old, self.new = old, new
        self.old_plan, self.new_plan = old.plan, new.plan
        self.before, self.after = meaning(old.plan), meaning(new.plan)
        self._old, self._new = _Compiled(old, old.plan, self.before), _Compiled(new, new.plan, self.after)
        self._changes = changes
        self.called = renamed_fields(changes)
        self._looked = 0
        self._seen = dict[str, bool]()
        self._tried = 0
        self._bases = dict[tuple[int, ...], _Compiled | None]()
        self._found = dict[Callable[[Both], Any], Any]()

    def once(self, find: Callable[[Both], T]) -> T:
        """What a function finds of the two contracts, which it is asked for once, and not for each difference."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]  # type: ignore[no-any-return]

    def seems_the_same(self, version: str) -> bool:
        """Whether a version of both is served as it was, and all that callers see of it is what it was."""
        if version not in self._seen:
            one, other = self.old.of(version), self.new.of(version)
            self._seen[version] = (
                one is not None
                and other is not None
                and self.before.dates.get(version) == self.after.dates.get(version)
                and not differing(sight(one.contract), sight(other.contract))
            )
        return self._seen[version]

    @cached_property
    def whole(self) -> Alone:
        """All differences together; not what is only written otherwise."""
        if not self._changes:
            return Alone(NOTHING, {}, (), (), self.old_plan, self.old_plan)
        all_of_them = _compiled(self._old, self._changes, self._new) or self._new
        return replace(_alone(self._old, all_of_them, self.called), plan=all_of_them.plan)

    def alone(self, changes: Sequence[Change], groups: Sequence[Sequence[Change]]) -> Alone:
        """`groups`: all of them."""
        if len(groups) == 1:
            return self.whole
        self._looked += 1
        if self._looked <= MOST:
            with_it = _compiled(self._old, changes, self._new)
            if with_it is not None:
                return self._left(replace(_alone(self._old, with_it, renamed_fields(changes)), plan=with_it.plan))
            without = _compiled(self._new, turned(changes), self._old)
            if without is not None:
                return self._left(_alone(without, self._new, renamed_fields(changes)))
            beside = None if changes[0].part == 9 else self._beside(changes, groups)
            if beside is not None:
                return self._left(beside)
        whole = self.whole
        if changes[0].part == 9:
            found = of_older(whole.felt, self.seems_the_same)
            is_on_top = len(changes) > 1 and changes[0].called is None
            all_met = {} if is_on_top else met(self.before, self.after, found)
            whole = replace(whole, felt=found, met=all_met, plan=None, newest=True)
        return replace(whole, known=False)

    def _beside(self, changes: Sequence[Change], groups: Sequence[Sequence[Change]]) -> Alone | None:
        """What it does in the newest version, beside as few others as it needs; None: nobody can say."""
        called = renamed_fields(changes)
        for others in ((), *companions(changes, groups)):
            if self._tried >= MOST:
                return None
            key = tuple(map(id, others))
            if key not in self._bases:
                self._tried += 1
                self._bases[key] = _compiled(self._old, others, self._new, apart=True)
            base = self._bases[key]
            self._tried += 1
            with_it = base and _compiled(self._old, (*others, *changes), self._new, apart=True)
            if base is not None and with_it is not None:
                return replace(_alone(base, with_it, called), plan=with_it.plan, newest=True)
        return None

    def _left(self, alone: Alone) -> Alone:
        """Without the gaps that another difference closes, or opens."""
        return replace(
            alone,
            opened=tuple(each for each in alone.opened if _question(each) in self._new.asked),
            closed=tuple(each for each in alone.closed if _question(each) in self._old.asked),
        )


def _question(each: OpenQuestion) -> tuple[str, str]:
    return each.question.id, each.text


def _stays(each: OpenQuestion, other: Loaded) -> bool:
    """Whether a gap of the other contract is this one in other words, and costs no less."""
    about = {*each.subject.split(", ")}
    return any(
        each.question.id == one.question.id and about & {*one.subject.split(", ")} and {*each.blocks} <= {*one.blocks}
        for one in other.open_questions
    )


def _compiled(old: _Compiled, changes: Sequence[Change], new: _Compiled, *, apart: bool = False) -> _Compiled | None:
    """None: what comes of it has errors, or is no document at all. Where nothing else differs it is the new contract,
    which is compiled already. `apart`: without older versions."""
    try:
        document = made(old.loaded.document, changes, new.loaded.document)
        document = newest_alone(document) if apart else document
        if _is_alike(document, new.loaded.document):
            return new
        loaded = compile_tree(document)
        return None if loaded.plan is None else _Compiled(loaded, loaded.plan, meaning(loaded.plan))
    except Exception:  # places of two documents in one: what cannot cope with it says nothing of either
        return None


def _is_alike(one: Document, other: Document) -> bool:
    """Whether both say the same, as it is written: a statement says something where a part has no facts."""
    return all(
        is_alike(of.facts, twin.facts)
        and (bool(of.facts.entries) or (of.statement and of.statement.word) == (twin.statement and twin.statement.word))
        for of, twin in zip(one.parts, other.parts, strict=True)
    )


def _alone(old: _Compiled, new: _Compiled, called: StoredNames) -> Alone:
    before, after = old.meaning, new.meaning
    found = felt(before, after, called)
    opened = (each for each in new.loaded.open_questions if _question(each) not in old.asked)
    closed = (each for each in old.loaded.open_questions if _question(each) not in new.asked)
    was, now = old.loaded.checked, new.loaded.checked
    all_met = met(before, after, found)
    is_more = any(each.direction == "more" and each.side in ("gives", "tells") for each in all_met)
    return Alone(
        found,
        all_met,
        tuple(each for each in opened if not _stays(each, old.loaded)),
        tuple(each for each in closed if not _stays(each, new.loaded)),
        old.plan,
        reached=tuple(reached(before, after, found)),
        adds=is_more and was is not None and now is not None and shows_all_of(was, now),
    )


# A document in which one difference is made and nothing else: what a change does is what it does alone.


def made(old: Document, changes: Sequence[Change], new: Document) -> Document:
    """The old document with some differences made: what is replaced first, then what is put in, and what goes
    from behind, so that places stay what they are; then what is known by names is put in order."""
    for change in changes:
        if change.whole and not _is_of_names(change):
            here, there = change.around
            value = _at(new.parts[change.part - 1].facts, there)
            if change.how == "reordered" and change.new is not None:
                value = change.new.node
            old = _with(old, change.part, here, partial(_instead, value))
    going = [(each.old.route, each.part) for each in changes if not each.whole and each.old is not None]
    for change in sorted(changes, key=lambda each: -len(each.around[0])):  # what is within before what holds it
        if not change.whole and change.new is not None:
            beside = None if going else _at(new.parts[change.part - 1].facts, change.new.route[:-1])
            old = _with(old, change.part, change.around[0], partial(_longer, change.new, beside))
    for route, part in sorted(going, reverse=True):
        old = _with(old, part, route[:-1], partial(_shorter, route[-1]))
    for change in filter(_is_of_names, changes):
        assert change.new is not None
        old = _with(old, change.part, change.around[0], partial(_in_order_of, change.new.node))
    return old


def _is_of_names(change: Change) -> bool:
    """Whether what has another order is known by names: it is put in order when all else is made."""
    return change.how == "reordered" and change.new is not None and isinstance(change.new.node, Mapping)


def _in_order_of(other: Node, node: Node) -> Node:
    """What both have in the order of the other one, at the places where it stood."""
    assert isinstance(node, Mapping) and isinstance(other, Mapping)
    by_name = {each.name: each for each in node.entries}
    kept = iter([by_name[each.name] for each in other.entries if each.name in by_name])
    return replace(node, entries=tuple(each if other.get(each.name) is None else next(kept) for each in node.entries))


def turned(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The same differences, seen from the new document."""
    return tuple(replace(each, old=each.new, new=each.old, around=(each.around[1], each.around[0])) for each in changes)


def _at(node: Node, route: Route) -> Node:
    for index in route:
        node = node.entries[index].value if isinstance(node, Mapping) else _items(node)[index]
    return node


def _items(node: Node) -> tuple[Node, ...]:
    assert isinstance(node, SequenceNode)
    return node.items


def _with(document: Document, number: int, route: Route, change: Callable[[Node], Node]) -> Document:
    part = document.parts[number - 1]
    facts = _changed(part.facts, route, change)
    assert isinstance(facts, Mapping)
    parts = (*document.parts[: number - 1], replace(part, facts=facts, present=True, statement=None),
             *document.parts[number:])  # fmt: skip
    return replace(document, parts=parts)


def _changed(node: Node, route: Route, change: Callable[[Node], Node]) -> Node:
    if not route:
        return change(node)
    first, *rest = route
    if isinstance(node, Mapping):
        entry = node.entries[first]
        entry = replace(entry, value=_changed(entry.value, tuple(rest), change))
        return replace(node, entries=(*node.entries[:first], entry, *node.entries[first + 1 :]))
    items = _items(node)
    item = _changed(items[first], tuple(rest), change)
    assert isinstance(node, SequenceNode)
    return replace(node, items=(*items[:first], item, *items[first + 1 :]))


def _instead(value: Node, _: Node) -> Node:
    return value


def _longer(place: Place, beside: Node | None, node: Node) -> Node:
    """`beside`: what it stands in, if it goes where it stands there; else it goes last."""
    if isinstance(node, Mapping):
        assert place.entry is not None
        longer = replace(node, entries=(*node.entries, place.entry))
        return longer if beside is None else _in_order_of(beside, longer)
    assert isinstance(node, SequenceNode)
    at = len(node.items) if beside is None else place.route[-1]
    return replace(node, items=(*node.items[:at], place.node, *node.items[at:]))


def _shorter(at: int, node: Node) -> Node:
    if isinstance(node, Mapping):
        return replace(node, entries=(*node.entries[:at], *node.entries[at + 1 :]))
    items = _items(node)
    assert isinstance(node, SequenceNode)
    return replace(node, items=(*items[:at], *items[at + 1 :]))
