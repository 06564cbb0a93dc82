"""For whom a difference is beside those whom its key and its direction say: those whose rows they are, who runs the
service, and who is told of what a field has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any, Final, TypeAlias

from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey
from ninefold.contract.writes import acted_on
from ninefold.diff.alone import Alone, Both
from ninefold.diff.changes import Change
from ninefold.diff.meaning import Piece
from ninefold.diff.shown import members_read
from ninefold.diff.verdicts import WHO, Direction, Effect, Promise, effects, side_of
from ninefold.expressions.ast import Literal
from ninefold.language.expressions import Expression
from ninefold.language.fact import text_of, value_of
from ninefold.language.key import Side
from ninefold.language.verbs import kind_of
from ninefold.plan.events import Event
from ninefold.plan.problems import ErrorCode
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import parts
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Sequence, is_word

Feels: TypeAlias = Callable[[str, str], frozenset[Side]]
"""Where the values of a field of a resource are felt."""

_REFUSED: Final = "a row that others refer to cannot be deleted"

_ENDED: Final = {"presented": {"presented"}, "others": {"others"}, "all": {"presented", "others"}}


def side_of_change(change: Change, both: Both) -> Side:
    """What is said of a transition that the service alone takes, nobody sends anything for."""
    side = side_of(change.part, change.key.path)
    if change.part == 3 and side == "takes" and change.names[1:2] == ("transitions",) and len(change.names) > 2:
        of = change.names[2], change.names[0]
        if not any(of in taken for taken in both.once(_taken_in_both)):
            return "moves"
    return side


def _taken_in_both(both: Both) -> tuple[set[tuple[str, str | None]], ...]:
    return tuple(map(_taken, _contracts(both)))


def _taken(contract: Contract) -> set[tuple[str, str | None]]:
    """The transitions that requests take, and other operations with them."""
    found = set[tuple[str, str | None]]()
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        found |= {(each.verb, each.subject) for each in value_of(endpoint.does) or ()}
        found |= {(each.verb, each.subject) for each in value_of(endpoint.also) or ()}
    for each in value_of(contract.states.machines) or ():
        machine = value_of(each.machine)
        for transition in () if machine is None else value_of(machine.transitions) or ():
            found |= {(one.verb, one.subject) for one in value_of(transition.also) or ()}
    return found


def timers(plan: ServicePlan, both: Both, of: tuple[str, ...]) -> list[tuple[object, ...]]:
    """Of the resources that there were, or `of` a transition of one."""
    resources = {each.name for each in value_of(both.old.contract.resources.resources) or ()}
    found = (each for each in plan.timers if each.resource in resources)
    if of:
        found = (each for each in found if (each.resource, each.transition) == of)
    return sorted((each.resource, each.transition or "", each.origin or "", each.after_microseconds) for each in found)


def tells_by_itself(old: ServicePlan, new: ServicePlan, of: tuple[str, ...]) -> bool:
    """Whether something tells of what the service does by itself, and is due at another time or for other rows; `of` a
    transition."""
    was, now = ({(each.resource, each.transition, each.origin): each for each in plan.timers} for plan in (old, new))
    for at in (each for each in was.keys() | now.keys() if not of or each[:2] == of):
        pair = [there[at] for there in (was, now) if at in there]
        when = [Piece((each.after_microseconds, each.due, each.waits, each.next)) for each in pair]
        if (len(pair) < 2 or not when[0].says_the_same(when[1])) and any(parts([each.take for each in pair], Event)):
            return True
    return False


def of_values(way: Direction, sides: frozenset[Side], promise: Promise) -> Iterator[Effect]:
    """Of another value in a field: for those who are shown it, told of it, or asked by it."""
    if "gives" in sides:
        yield from effects("moves", way, promise)
    if "tells" in sides:
        yield from effects("tells", way if way in ("unproved", "same") else "other", promise)
    if sides & {"takes", "guards"} and way != "same":
        yield from effects("takes", "unproved", promise, said="what is asked of requests reads it")
    if not sides:
        yield from effects("runs", "unproved", promise, said="what is stored is another, and no caller is shown it")


Row: TypeAlias = tuple[str, tuple[Any, ...]]
"""A resource, and the primary key of a row that the contract states."""


def of_records(
    old: ServicePlan, new: ServicePlan, both: Both, felt: Feels, admitting: frozenset[str], promise: Promise
) -> Iterator[Effect]:
    """Of rows that the contract states, whatever lines they stand in. One more is a row as callers make them: it takes
    nothing from those that are there, but whoever gives its key may be refused. One that is none any more stays where
    there are rows, and is missing in a new database. `felt`: where the values of a field are; `admitting`: the
    resources that say who may do what."""
    was, now = _records(old, both.old.contract), _records(new, both.new.contract)
    for row in was.keys() - now.keys():
        yield from effects("gives", "less", promise, said=f"a row of {row[0]} is not there in a new database")
    come = sorted({resource for resource, key in now.keys() - was.keys() if key})
    for resource in come:
        yield Effect("readers", "compatible", "show more rows", f"there are more rows of {resource}")
        if any(of == resource and kind_of(verb).makes for taken in both.once(_taken_in_both) for verb, of in taken):
            yield Effect("senders", "look", None, f"{resource}: who gives what identifies a new row finds it there")
            yield Effect("operators", "look", None, f"{resource}: a row with the key of a new one is given its values")
        if resource in admitting:
            yield Effect("owners", "opens", None, f"rows of {resource} say who may do what, and there are more")
    for row in sorted((row for row in now if row in was or not row[1]), key=repr):
        stood, stands = was.get(row, {}), now[row]
        others = [name for name in {*stood, *stands} if stood.get(name) != stands.get(name)]
        for name in sorted(others):
            yield from of_values("other", felt(row[0], name), promise)


def _contracts(both: Both) -> tuple[Contract, Contract]:
    return both.old.contract, both.new.contract


def _records(plan: ServicePlan, contract: Contract) -> dict[Row, dict[str, Any]]:
    resources = value_of(contract.resources.resources) or ()
    keys = {one.name: [each.text for each in value_of(one.primary_key) or ()] for one in resources}
    rows = () if plan.records is None else plan.records.rows
    return {
        (one.resource, tuple(one.values.get(name) for name in keys.get(one.resource, ()))): one.values for one in rows
    }


def is_implied(change: Change, documents: tuple[Document, Document]) -> bool:
    """Whether it is of fields that are unique together, of which some are unique already, or stay so."""
    place = change.new if change.how == "added" else change.old if change.how == "removed" else None
    if place is None or not change.key.path.startswith("RESOURCE.unique") or len(change.names) != 3:
        return False
    resource = documents[0 if change.how == "added" else 1].parts[1].facts.get(change.names[0])
    if resource is None or not isinstance(resource.value, Mapping) or not isinstance(place.node, Sequence):
        return False
    return any(each and each <= _names(place.node) for each in _unique(resource.value))


def _unique(resource: Mapping) -> Iterator[set[str]]:
    for key in ("unique", "primary key"):
        found = resource.get(key)
        if found is not None and isinstance(found.value, Sequence) and key == "unique":
            yield from map(_names, found.value.items)
        elif found is not None:
            yield _names(found.value)
    fields = resource.get("fields")
    for each in fields.value.entries if fields is not None and isinstance(fields.value, Mapping) else ():
        said = each.value.get("unique") if isinstance(each.value, Mapping) else None
        if said is not None and is_word(said.value, "true"):
            yield {each.name}


def _names(node: Node) -> set[str]:
    items = node.items if isinstance(node, Sequence) else (node,)
    return {each.text for each in items if isinstance(each, Scalar)}


_CHANGE: Final = "versions.VERSION.changes.CHANGE"


def of_older_name(change: Change, alone: Alone, found: Iterable[Effect], promise: Promise) -> Iterator[Effect]:
    """Of a `rename`, or of one of its two names: who names what it is of as an older version did has lost it, on
    whatever side that is felt."""
    nodes = (place.node for place in (change.old, change.new) if place is not None)
    is_whole = change.key.path == _CHANGE and any(isinstance(each, Mapping) and each.get("rename") for each in nodes)
    if change.part != 9 or not (is_whole or change.key.path in (f"{_CHANGE}.rename", f"{_CHANGE}.to")):
        return
    known = {each.audience for each in found if each.verdict == "breaking"}
    for side in sorted(alone.felt.sides - {"runs"}):
        if WHO[side] not in known:
            yield from effects(side, "other", promise, said="an older version has another name for it")


_TOLD_AS: Final = {
    "codes.CODE.title": ("title", "messages"),
    "codes.CODE.detail": ("detail",),
    "codes.CODE.about": ("messages",),
}
"""In which members of `error` the texts of a code are told."""


def is_untold(change: Change, both: Both) -> bool:
    """Whether it is a text of a code that no error tells. One without a name for it is in no `error.messages`."""
    if change.key.path not in _TOLD_AS:
        return False
    is_named = change.names[1] in both.once(_codes_with_names)
    members = (each for each in _TOLD_AS[change.key.path] if is_named or each != "messages")
    return not any(("error", member) in both.once(_members_read) for member in members)


def _members_read(both: Both) -> frozenset[tuple[str, str]]:
    return members_read(both.old_plan) | members_read(both.new_plan)


def _codes_with_names(both: Both) -> frozenset[str]:
    plans = both.old_plan, both.new_plan
    return frozenset(each.name for plan in plans for each in _codes(plan) if each.about is not None)


def _codes(plan: ServicePlan) -> Iterator[ErrorCode]:
    """In all versions."""
    versions = () if plan.versions is None else plan.versions.versions
    for each in (plan.problems, *(each.problems for each in versions)):
        yield from () if each is None else each.codes


def has_new_states(change: Change, both: Both) -> bool:
    """Whether it is the states of a resource that the old contract has not."""
    is_whole = change.part == 3 and change.key.path == "RESOURCE" and change.how == "added"
    known = value_of(both.old.contract.resources.resources) or ()
    return is_whole and all(each.name != change.names[0] for each in known)


def is_given_always(change: Change, both: Both) -> bool:
    """Whether it requires a field that a constant gives where no request does: no row lacks it, and no request has to
    have it."""
    if change.key.path != "RESOURCE.required.*" or change.how != "added" or change.new is None:
        return False
    for one in value_of(both.new.contract.resources.resources) or ():
        for each in value_of(one.fields) or () if one.name == change.names[0] else ():
            given = value_of(each.on_create)
            if each.name == change.new.called and isinstance(given, Expression):
                return isinstance(given.ast, Literal) and given.ast.value is not None
    return False


def is_of_others(change: Change, side: Side, promise: Promise) -> bool:
    """Whether more is something else: events of a kind that is known arise where they did not, and a filter holds of
    rows that do not answer to it. That more rows are shown, a list may promise; that nothing is, promises it not."""
    is_of_events = side == "tells" and (change.key.narrows or change.key.path == "kinds.KIND.upon.*")
    return is_of_events or (change.key.promise == "show more rows" and promise.words is None)


def _is_always_given(change: Change, both: Both) -> bool:
    """Whether no list goes without what the parameter of a change does."""
    return any(
        each.name == change.names[2] and (each.is_required or each.default is not None)
        for one in value_of(both.old.contract.endpoints.endpoints) or () if one.key == change.names[0]
        for each in value_of(one.query) or ()
    )  # fmt: skip


def besides(change: Change, way: Direction, alone: Alone, both: Both, promise: Promise) -> Iterator[Effect]:
    """What only the key itself tells."""
    old, new = (None if each is None else each.node for each in (change.old, change.new))
    match change.part, change.key.path:
        case 5, "unseen rows" if is_word(new, "forbidden"):
            yield Effect("owners", "opens", None, "that a row is there is told to who may not see it")
        case 2, "RESOURCE.fields.FIELD.on delete":
            if is_word(new, "cascade"):
                yield Effect("owners", "opens", None, "rows go with what they refer to")
        case 4, "ENDPOINT.ends":
            was, now = (_ENDED.get(each.text, set()) if isinstance(each, Scalar) else set() for each in (old, new))
            if now - was:
                yield Effect("senders", "breaking", None, "credentials end that went on")
            if was - now:
                yield Effect("owners", "opens", None, "credentials go on that ended")
        case 4, "ENDPOINT.etag" if new is None and change.names[0].partition(" ")[0] not in ("GET", "HEAD"):
            yield Effect("senders", "breaking", None, "`If-Match` names no tag that there is, and is refused")
        case 4, "ENDPOINT.query.PARAMETER.where" if way in ("more", "other") and _is_always_given(change, both):
            yield Effect("owners", "opens", change.key.promise, "no request goes without it, and more rows come")
        case 2, "RESOURCE.required.*" if not alone.met and is_given_always(change, both):
            yield Effect("senders", "compatible", None, "it is given where no request does")
        case 4, path if path.startswith("functions.FUNCTION"):
            yield from _of_function(change, path)
        case 2, path if path.startswith("RESOURCE.primary key") and change.how != "added":
            yield from effects("takes", "less", promise, said="rows that differ in it alone are one")
        case 3, "RESOURCE" if has_new_states(change, both):
            yield Effect("operators", "compatible", None, "no row was in any of these states")
        case 3, path if path.startswith("RESOURCE.gone") and new is None:
            yield Effect("owners", "opens", None, "rows that were gone are there")
    if change.part == 2 and alone.felt.routes:
        yield from _refused(change, both, promise)
    yield from _emptied(change, both, promise)


def _refused(change: Change, both: Both, promise: Promise) -> Iterator[Effect]:
    """Of the references that come or go with a change, however much it is of: those that refuse a deletion which both
    contracts have."""
    was, now = (
        {names: each for names, each in of.items() if names[: len(change.names)] == change.names}
        for of in both.once(_refusing_in_both)
    )
    if was != now and change.how != "renamed":
        less = any(each > was.get(names, 0) for names, each in now.items())
        yield from effects("takes", "less" if less else "more", promise, said=_REFUSED)


def _refusing_in_both(both: Both) -> tuple[dict[tuple[str, ...], int], ...]:
    taken, remain = both.once(_taken_in_both)
    deleted = {subject for verb, subject in taken & remain if kind_of(verb).removes and subject is not None}
    return tuple(dict(_refusing(each, deleted)) for each in _contracts(both))


def _refusing(contract: Contract, deleted: Set[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The `on delete` that refuse to delete rows of some resources, or of those that fall with them, by their names.
    2: wherever a row refers to one; 1: only where another one refuses to let that row fall."""
    graph = Survey(contract).graph

    def words(target: str) -> Iterator[tuple[str, str, str | None]]:
        return ((name, each.name, text_of(each.on_delete)) for name, each in graph.referring.get(target, ()))

    def keeps(resource: str) -> bool:
        return any(word == "restrict" for each in graph.falling_with(resource) for _, _, word in words(each))

    for target in frozenset().union(*map(graph.falling_with, deleted)):
        for resource, field, word in words(target):
            if word == "restrict" or (word == "cascade" and keeps(resource)):
                yield (resource, "fields", field, "on delete"), 2 if word == "restrict" else 1


def _of_function(change: Change, path: str) -> Iterator[Effect]:
    """Who gives the function has to know what it is called with, and what it may answer."""
    if change.how != "removed" or path != "functions.FUNCTION":
        yield Effect("operators", "look", None, f"the function `{change.names[1]}` has to be as it is said now")


def _emptied(change: Change, both: Both, promise: Promise) -> Iterator[Effect]:
    """Of a member more of a body that replaces: who does not give it leaves rows without a value that they had."""
    if change.part != 4 or change.key.path != "ENDPOINT.body" or change.how != "added" or change.new is None:
        return
    endpoint = both.new.contract.endpoints_by_key.get(change.names[0])
    resource = None if endpoint is None else acted_on(endpoint)
    name = change.new.node.text if isinstance(change.new.node, Scalar) else None
    if endpoint is None or endpoint.method != "PUT" or name is None:
        return
    resources = value_of(both.old.contract.resources.resources) or ()
    fields = (each for one in resources if one.name == resource for each in value_of(one.fields) or ())
    if any(each.name == name for each in fields):
        yield from effects("takes", "unproved", promise, said=f"`{name}` is emptied where it is not given")
