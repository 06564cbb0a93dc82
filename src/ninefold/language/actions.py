"""Actions: what an endpoint does, what an event arises upon, and what an effect takes.

A verb and a resource are judged together, by one diagnostic: `get rooms` is neither. What is surely meant is read in
its place, so that nothing follows from the mistake; an action of which nobody knows what it means is a gap.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ninefold.diagnostics.codes import NOT_AN_ACTION, UNDECLARED
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import singulars, there_are
from ninefold.language.fact import Fact, Shown
from ninefold.language.reading import Read, Reading, Slot, quoted, shortened
from ninefold.language.verbs import ALL, BUILT_IN, KINDS, READ_ONLY, VERBS, kind_by, kind_of
from ninefold.syntax.nodes import Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class Action:
    """`create order`, `place order`, `compute`: a verb of the closed list or a transition's name,
    and the resource (or the function) that it acts on. `all`: on all of its rows (`delete all todo`)."""

    verb: str
    subject: str | None
    span: Span
    all: bool = False

    @property
    def written(self) -> str:
        """As a contract has it."""
        verb = kind_of(self.verb).of or self.verb
        return " ".join(filter(None, (verb, "all" if self.all else None, self.subject)))

    @property
    def resource(self) -> str | None:
        """The resource that it acts on."""
        return self.subject if kind_of(self.verb).acts_on == "a resource" else None

    @property
    def is_transition(self) -> bool:
        return self.verb not in KINDS

    @property
    def calls(self) -> bool:
        return kind_of(self.verb).acts_on == "a function"


@dataclass(frozen=True, slots=True)
class Actor:
    """Whose action it is. `verbs`: what it may do besides the contract's transitions; `example`: what it may be. An
    endpoint has a `key`, and the `keys` under which the rest of it is said."""

    called: str
    verbs: tuple[str, ...]
    example: str = "create order"
    key: str = ""
    keys: Collection[str] = ()

    @property
    def is_endpoint(self) -> bool:
        return bool(self.key)

    @property
    def on_resources(self) -> tuple[str, ...]:
        """The verbs that stand before a resource."""
        return tuple(each for each in self.verbs if kind_of(each).acts_on == "a resource")


def deeds(key: str, keys: Collection[str]) -> Read[tuple[Action, ...]]:
    """Reads what an endpoint does: actions, each perhaps on all rows (`delete all todo`)."""
    by = Actor("an endpoint", tuple(VERBS), key=key, keys=keys)

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Action, ...] | None:
        found = actions(by)(r, node, slot)
        return None if found is None else tuple(_of_all(r, each) for each in found)

    return read


def _of_all(r: Reading, action: Action) -> Action:
    verb = action.verb.removesuffix(ALL)
    kind = kind_of(verb)
    if verb == action.verb or kind.stands_alone or not verb:
        return action
    if not kind.of_all:
        message = f"`{verb}` is not done to all rows at once"
        known = ", ".join(f"`{each}{ALL}`" for each in sorted(VERBS) if VERBS[each].of_all)
        help = f"write `list {action.subject}`" if kind.reads_rows else f"{known} and a transition are"
        r.say(NOT_AN_ACTION, message, Label(action.span), help=(help,))
    return replace(action, verb=verb, all=True)


def actions(by: Actor) -> Read[tuple[Action, ...]]:
    """Reads one action, or a list of them."""
    one = action(by)

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Action, ...] | None:
        if isinstance(node, Sequence):
            found = [one(r, item, slot) for item in r.items(node, slot) or ()]
            read = tuple(each for each in found if each is not None)
            if len(read) < len(found):
                r.leaves_open(node.span)
            return read or None
        alone = one(r, node, slot)
        return None if alone is None else (alone,)

    return read


def action(by: Actor) -> Read[Action]:
    """Reads a verb and what it acts on."""

    def read(r: Reading, node: Node, slot: Slot) -> Action | None:
        if not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.text.strip():
            r.wrong_shape(node, slot)
            return None
        written = " ".join(node.text.split())
        verb, _, subject = written.rpartition(" ")
        of_no_resource = next((each for each in (written, verb) if kind_of(each).acts_on != "a resource"), None)
        if of_no_resource is not None and of_no_resource not in by.verbs:
            message = f"{quoted(written)} is nothing that {by.called} does"
            help = f"write what is done to a resource, such as `{by.example}`"
            r.say(NOT_AN_ACTION, message, Label(node.span, "not an action"), help=(help,))
        elif kind_of(written).stands_alone:
            return Action(written, None, node.span)
        elif kind_of(verb).stands_alone:
            r.say(NOT_AN_ACTION, f"`{verb}` acts on no resource", Label(node.span), help=(f"write `{verb}`",))
        elif written in VERBS:
            named = "NAME" if kind_of(written).acts_on == "a function" else "RESOURCE"
            message = f"`{written}` does not say what it acts on"
            r.say(NOT_AN_ACTION, message, Label(node.span), help=(f"write `{written} {named}`",))
        elif verb and _can_be(r, by, verb, subject):
            return Action(verb, subject, node.span)
        else:
            return _instead(r, by, node, written)
        return None

    return read


def _can_be(r: Reading, by: Actor, verb: str, subject: str) -> bool:
    """Whether this is an action, or cannot be judged. What is not written (the log) is judged with the names."""
    known = r.written
    if kind_of(verb).acts_on == "a function" or known.resources is None:
        return True
    if subject not in known.resources:
        return subject in READ_ONLY or (subject in BUILT_IN and verb in by.verbs)
    bare = verb.removesuffix(ALL) if by.is_endpoint else verb
    return bare in by.verbs or bare in known.transitions.get(subject, ()) or subject in known.unknown


def _instead(r: Reading, by: Actor, node: Scalar, written: str) -> Action | None:
    """Says what is wrong with an action, and what it is instead, if that is plain."""
    verb, _, subject = written.rpartition(" ")
    known = r.written
    found = meant(r, by, written)
    right, _, of = found[0].rpartition(" ") if len(found) == 1 else ("", "", "")
    if known.resources is None or not verb:
        help = alternatives(found) or _how(r, by, written)
        r.say(NOT_AN_ACTION, f"{quoted(written)} is not an action", Label(node.span), help=help)
    elif subject in known.resources:
        message = f"{quoted(verb)} is nothing that {by.called} does to `{subject}`"
        place = _before(node, subject, verb)
        r.say(NOT_AN_ACTION, message, Label(place, "not an action"), help=alternatives(found) or _all(r, by, subject))
    elif (found and right != verb) or (not found and known.resource(subject) and not _is_verb(by, verb)):
        message = f"{quoted(written)} is nothing that {by.called} does"
        help = alternatives(found) or _all(r, by, known.resource(subject) or subject)
        r.say(NOT_AN_ACTION, message, Label(node.span, "not an action"), help=help)
    else:
        among = (*BUILT_IN, *(each for each in known.resources if each not in BUILT_IN))
        near = of or r.nearest(subject, among)
        help = (f"did you mean `{near}`?",) if near else there_are(among)
        if (called := called_here(by, verb)) is not None:
            help = (*help, f"{quoted(verb)} is called {called} here")
        place = node.part(len(node.text.rstrip()) - len(subject), len(node.text.rstrip()))
        r.say(UNDECLARED, f"{quoted(subject)} is not a resource", Label(place, "not declared"), help=help, of=subject)
    return Action(right, of, node.span) if right else None


def _before(node: Scalar, subject: str, verb: str) -> Span:
    """Where the verb stands."""
    end = len(node.text.rstrip()) - len(subject)
    end = len(node.text[:end].rstrip())
    return node.part(end - len(verb), end)


def _is_verb(by: Actor, verb: str) -> bool:
    return verb in by.verbs or verb.removesuffix(ALL) in by.verbs


def _how(r: Reading, by: Actor, written: str) -> tuple[str, ...]:
    """What a single word lacks: the verb, or the resource."""
    near = r.nearest(written, [each for each in VERBS if VERBS[each].stands_alone]) if by.is_endpoint else None
    if near is not None:
        return (f"did you mean `{near}`?",)
    resource = r.written.resource(written)
    if resource is not None:
        return _all(r, by, resource)
    if (called := called_here(by, written)) is not None:
        return (f"{quoted(written)} is called {called} here, and stands before what it acts on: `VERB RESOURCE`",)
    if not written.isidentifier():
        return ("an action is a verb or a transition, a space, and the resource: `create RESOURCE`",)
    meant = r.nearest(written, by.on_resources) or shortened(written)
    return (f"write what it acts on too: `{meant} RESOURCE`",)


def _all(r: Reading, by: Actor, resource: str) -> tuple[str, ...]:
    """The help line with everything that can be done to a resource."""
    verbs = (*r.written.transitions.get(resource, ()), *by.on_resources)
    listed = ", ".join(f"`{each} {resource}`" for each in verbs)
    return (f"write one of {listed}" if len(verbs) > 1 else f"write {listed}",) if verbs else ()


# What an action that is none was meant to be: `get rooms`, `booking.lapse`, `booking closed`, `lapse`

_CALLED = {word: verb.name for verb in VERBS.values() for word in verb.also}
"""What others call the verbs."""

_READ_OR_LIST = tuple(verb.name for verb in VERBS.values() if verb.reads_rows)
"""What others call the first of them, they call all: which one it is, the path and the other keys of the endpoint
tell."""

_PASSED_OVER = frozenset(("a", "an", "the", "on", "upon", "when", "after", "is", "was", "has", "been", "of", "all"))
"""Words that say nothing of which action it is."""

_OF_LISTS = frozenset(("sort", "pages"))
"""Keys that an endpoint has which lists."""


def meant(r: Reading, by: Actor, written: str) -> tuple[str, ...]:
    """The actions that are surely meant, as they are written: none, one, or several that are as likely."""
    words = re.findall(r"\w+", written)
    at = _resource_among(r, words)
    if at is None and len(words) == 1:
        words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", written)  # `lapse_booking`, `lapseBooking`
        at = _resource_among(r, words)
    if at is None and len(words) == 1:
        return tuple(f"{name} {of}" for of, own in r.written.transitions.items() for name in own if name == words[0])
    if at is None:
        return ()
    place, subject = at
    rest = [word for word in (*words[:place], *words[place + 1 :]) if word.casefold() not in _PASSED_OVER]
    for verb in dict.fromkeys((" ".join(rest), *rest[::-1])):
        if verb and (found := _verbs(r, by, verb, subject, is_plural=words[place].casefold() != subject.casefold())):
            is_all = by.is_endpoint and "all" in words
            return tuple(f"{each}{ALL if is_all and _is_of_all(by, each) else ''} {subject}" for each in found)
    return ()


def called_here(by: Actor, verb: str) -> str | None:
    """The verb, or the two, that others call so."""
    verbs = _called(by, verb)
    return " or ".join(f"`{each}`" for each in verbs) or None


def _is_of_all(by: Actor, verb: str) -> bool:
    return verb not in by.verbs or kind_of(verb).of_all


def _resource_among(r: Reading, words: list[str]) -> tuple[int, str] | None:
    """The place of the word that names a resource, and which: as it is written, or nearly so."""
    places = range(len(words))[::-1]
    for place in places:
        if (found := r.written.resource(words[place])) is not None:
            return place, found
    for place in places if len(words) > 1 else ():
        if (near := r.nearest(words[place], r.written.resources or ())) is not None:
            return place, near
    return None


def _verbs(r: Reading, by: Actor, word: str, subject: str, is_plural: bool) -> tuple[str, ...]:
    transitions = r.written.transitions.get(subject, {})
    names = (*transitions, *by.on_resources)
    folded = word.casefold()
    if exact := [each for each in names if each.casefold() == folded]:
        return (exact[0],)
    if called := _called(by, word):
        return called if len(called) == 1 else (_read_or_list(by, subject, is_plural),)
    if leading := tuple(each for each, to in transitions.items() if to.casefold() == folded):
        return leading
    if folded in VERBS or any(form in _CALLED for form in _forms(folded)):
        return ()  # a verb that is not for everyone: `read` is no cause of an event
    near = r.nearest(word, names)
    return () if near is None else (near,)


def _called(by: Actor, word: str) -> tuple[str, ...]:
    """The verbs that others call so, in any form of the word."""
    found = next((form for form in _forms(word.casefold()) if form in _CALLED), None)
    if found is None or _CALLED[found] not in by.verbs:
        return ()
    return _READ_OR_LIST if _CALLED[found] == _READ_OR_LIST[0] else (_CALLED[found],)


def _forms(word: str) -> Iterator[str]:
    yield word
    for ending in ("ing", "ed", "d", "es", "s"):
        if word.endswith(ending):
            yield word.removesuffix(ending)


def _read_or_list(by: Actor, subject: str, is_plural: bool) -> str:
    """Which of the two an endpoint does: the keys tell, then its path, then the number of the resource."""
    if not _OF_LISTS.isdisjoint(by.keys):
        return "list"
    if by.key.endswith("}"):
        return "read"
    last = by.key.rpartition("/")[2].casefold()
    return "list" if is_plural or (last != subject.casefold() and subject.casefold() in singulars(last)) else "read"


def alternatives(found: Iterable[str]) -> tuple[str, ...]:
    """The help line for them."""
    listed = " or ".join(f"`{each}`" for each in found)
    return (f"did you mean {listed}?",) if listed else ()


def of_kind(
    does: Fact[tuple[Action, ...]] | None, outcomes: Collection[str], grants: bool
) -> Fact[tuple[Action, ...]] | None:
    """What an endpoint does, whose responses state these outcomes, and whether it states a grant: `put`, `delete` and
    `sign in` are of several kinds."""
    if not isinstance(does, Shown):
        return does
    first, *rest = does.value
    kind = first.verb if first.all else kind_by(first.verb, outcomes, grants)
    return does if kind == first.verb else replace(does, value=(replace(first, verb=kind), *rest))


# Functions that endpoints call, and which endpoint calls which


def apart(r: Reading, does: Fact[tuple[Action, ...]] | None) -> tuple[Action | None, Fact[tuple[Action, ...]] | None]:
    """The function that an endpoint calls first, and what it does then: with nothing else it computes a response."""
    if not isinstance(does, Shown) or not any(each.calls for each in does.value):
        return None, does
    first, *rest = does.value
    late = next((each for each in rest if each.calls), None)
    if late is not None:
        if first.calls:
            message, help = f"`{late.written}` is called besides another function", "one function may call the other"
        else:
            message = f"`{late.written}` is not the first of several operations"
            ordered = (late, first, *(each for each in rest if each is not late))
            help = f"write it first: `does: [{', '.join(each.written for each in ordered)}]`"
        why = "a function is called before anything else is done"
        r.say(NOT_AN_ACTION, message, Label(late.span, why), help=(help,))
        rest = [each for each in rest if not each.calls]
        if not first.calls:
            return late, replace(does, value=(first, *rest))
    if not rest:
        rest = [Action("compute", None, first.span)]
    elif rest[0].all or not kind_of(rest[0].verb).after_call:
        r.say(
            NOT_AN_ACTION,
            f"`{rest[0].written}` does not follow a call",
            Label(rest[0].span, "what a function gives has nothing to do there"),
            help=(
                f"{', '.join(f'`{name}`' for name in VERBS if VERBS[name].after_call)} and transitions of one row do",
            ),
        )
        rest = [Action("compute", None, first.span)]
    return first, replace(does, value=tuple(rest))
