"""Actions: what an endpoint does, and what an event arises upon."""

from __future__ import annotations

from dataclasses import replace

from ninefold.contract.endpoints import Action
from ninefold.diagnostics.diagnostic import Label
from ninefold.resolve.codes import NOT_AN_ACTION
from ninefold.resolve.reading import Reading, Slot, quoted, shortened
from ninefold.syntax.nodes import Node, Scalar, Sequence
from ninefold.vocabulary.endpoints import VERBS
from ninefold.vocabulary.verbs import ALL, ALONE, OF_ALL

MEANT_VERBS = {
    **dict.fromkeys(("get", "show", "fetch", "view", "find", "retrieve"), "read"),
    **dict.fromkeys(("add", "insert", "new", "make", "post", "register"), "create"),
    **dict.fromkeys(("search", "index", "query", "browse"), "list"),
    **dict.fromkeys(("edit", "modify", "change", "patch", "set"), "update"),
    **dict.fromkeys(("put", "overwrite"), "replace"),
    **dict.fromkeys(("destroy", "drop", "erase"), "delete"),
    **dict.fromkeys(("upsert",), "ensure"),
    **dict.fromkeys(("login", "log in", "signin", "authenticate"), "sign in"),
    **dict.fromkeys(("logout", "log out", "signout", "log off"), "sign out"),
}
"""What others call the verbs."""


def deeds(r: Reading, node: Node, slot: Slot) -> tuple[Action, ...] | None:
    """What an endpoint does: actions, each perhaps on all rows (`delete all todo`)."""
    found = actions(r, node, slot)
    return None if found is None else tuple(_of_all(r, each) for each in found)


def _of_all(r: Reading, action: Action) -> Action:
    verb = action.verb.removesuffix(ALL)
    if verb == action.verb or verb in ALONE or not verb:
        return action
    if verb in VERBS and verb not in OF_ALL:
        message = f"`{verb}` is not done to all rows at once"
        known = ", ".join(f"`{each}{ALL}`" for each in sorted(OF_ALL))
        help = f"write `list {action.subject}`" if verb in ("list", "read") else f"{known} and a transition are"
        r.say(NOT_AN_ACTION, message, Label(action.span), help=(help,))
    return replace(action, verb=verb, all=True)


def actions(r: Reading, node: Node, slot: Slot) -> tuple[Action, ...] | None:
    """One action, or a list of them."""
    if isinstance(node, Sequence):
        found = tuple(each for item in r.items(node, slot) or () if (each := action(r, item, slot)) is not None)
        return found or None
    alone = action(r, node, slot)
    return None if alone is None else (alone,)


def action(r: Reading, node: Node, slot: Slot) -> Action | None:
    """A verb and what it acts on. Whether both are declared is decided where all names are known."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.text.strip():
        r.wrong_shape(node, slot)
        return None
    written = " ".join(node.text.split())
    if written in ALONE:
        return Action(written, None, node.span)
    verb, _, subject = written.rpartition(" ")
    if verb and verb not in ALONE and written not in VERBS:
        return Action(verb, subject, node.span)
    if verb in ALONE:
        message, help = f"`{verb}` acts on no resource", f"write `{verb}`"
    elif written in VERBS:
        subject = "NAME" if written == "call" else "RESOURCE"
        message, help = f"`{written}` does not say what it acts on", f"write `{written} {subject}`"
    else:
        near = r.nearest(written, ALONE)
        message = f"{quoted(written)} is not an action"
        verb = MEANT_VERBS.get(written.casefold(), written)
        help = f"did you mean `{near}`?" if near else f"write what it acts on too: `{shortened(verb)} RESOURCE`"
    r.say(NOT_AN_ACTION, message, Label(node.span), help=(help,))
    return None
