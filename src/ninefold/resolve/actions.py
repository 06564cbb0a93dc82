"""Actions: what an endpoint does, what an event arises upon, and what an effect takes.

A verb and a resource are judged together, by one diagnostic: `get rooms` is neither. What is surely meant is read in
its place, so that nothing follows from the mistake; an action of which nobody knows what it means is a gap.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ninefold.contract.endpoints import Action
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import there_are
from ninefold.language.codes import NOT_AN_ACTION, UNDECLARED
from ninefold.language.reading import Read, Reading, Slot, quoted, shortened
from ninefold.language.verbs import ALL, VERBS, kind_of
from ninefold.resolve.meant_actions import Actor, alternatives, called_here, meant
from ninefold.syntax.nodes import Node, Scalar, Sequence
from ninefold.vocabulary.built_in import BUILT_IN, READ_ONLY


def deeds(key: str, keys: Collection[str]) -> Read[tuple[Action, ...]]:
    """Reads what an endpoint does: actions, each perhaps on all rows (`delete all todo`)."""
    by = Actor("an endpoint", tuple(VERBS), key, keys)

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
        if kind_of(written).stands_alone:
            return Action(written, None, node.span)
        verb, _, subject = written.rpartition(" ")
        if kind_of(verb).stands_alone:
            r.say(NOT_AN_ACTION, f"`{verb}` acts on no resource", Label(node.span), help=(f"write `{verb}`",))
        elif written in VERBS:
            named = "NAME" if written == "call" else "RESOURCE"
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
    if verb == "call" or known.resources is None:
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
