"""Part 4: several operations on one row, in one transaction: which verbs may stand together, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.checked.resources import Resource, Transition
from ninefold.checks.codes import NOT_AMONG_SEVERAL, NOT_TAKEN_AFTER, ROWS_OF_SEVERAL
from ninefold.checks.findings import Findings
from ninefold.contract import states as stated
from ninefold.contract.endpoints import Endpoint
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.actions import Action
from ninefold.language.fact import Name, value_of
from ninefold.language.verbs import VERBS, kind_of


def one_after_another(contract: Contract, findings: Findings) -> None:
    """Says of lists of operations that cannot be done one after another with one row."""
    machines = {
        each.resource.text: machine
        for each in value_of(contract.states.machines) or ()
        if (machine := value_of(each.machine)) is not None
    }
    said = set[str]()
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        actions = value_of(endpoint.does) or ()
        if len(actions) > 1 and endpoint.key not in said:  # the cases of an endpoint do the same
            said.add(endpoint.key)
            if _stand_together(endpoint, actions, findings):
                _follow(actions, machines.get(actions[0].subject or ""), findings)


def _stand_together(endpoint: Endpoint, actions: Sequence[Action], findings: Findings) -> bool:
    """Whether the verbs may be done with one row, each in its place."""
    of_all = next((each for each in actions if each.all), None)
    if of_all is not None:
        message = f"`{of_all.written}` does not stand among several operations"
        instead = "what happens to other rows is an effect, whose `where` says which: `then: [{update: …, where: …}]`"
        findings.say(NOT_AMONG_SEVERAL, message, Label(of_all.span, "acts on many rows"), help=(instead,))
        return False
    alone = next((each for each in actions if each.verb in VERBS and not VERBS[each.verb].is_first), None)
    if alone is not None:
        why, instead = VERBS[alone.verb].by_itself
        message = f"`{alone.written}` does not stand among several operations"
        findings.say(NOT_AMONG_SEVERAL, message, Label(alone.span, why), help=(instead,))
        return False
    first, *rest = actions
    other = next((each for each in rest if each.subject != first.subject), None)
    if other is not None:
        findings.say(
            ROWS_OF_SEVERAL,
            f"the operations of `{endpoint.key}` act on more than one row",
            Label(first.span, f"acts on a row of `{first.subject}`"),
            Label(other.span, f"acts on a row of `{other.subject}`"),
            help=(f"what happens to other rows is an effect: `then: [{_effect(other)}]`",),
        )
        return False
    late = next((each for each in rest if kind_of(each.verb).is_first), None)
    if late is not None:
        message = f"`{late.written}` is not the first of several operations"
        in_order = [late, *(each for each in actions if each is not late)]
        help = f"write it first: `does: [{', '.join(each.written for each in in_order)}]`"
        if kind_of(first.verb).is_first:
            help = f"what `{first.written}` gives to the row is all that the request gives"
        findings.say(NOT_AMONG_SEVERAL, message, Label(late.span, "takes what the request gives"), help=(help,))
        return False
    return True


def _follow(actions: Sequence[Action], machine: stated.Machine | None, findings: Findings) -> None:
    """Each transition leaves a state in which what comes before it may leave the row."""
    if machine is None:
        return
    transitions = {each.name: each for each in value_of(machine.transitions) or ()}
    at = value_of(machine.initial) if kind_of(actions[0].verb).makes else None
    before = actions[0]
    for action in actions:
        if action.verb in VERBS:
            continue
        taken = transitions.get(action.verb)
        origins = None if taken is None else value_of(taken.origin)
        if at is not None and origins is not None and at.text not in {each.text for each in origins}:
            _never_taken(action, before, at, origins, findings)
            return
        at, before = None if taken is None else value_of(taken.to), action


def _never_taken(action: Action, before: Action, at: Name, origins: Sequence[Name], findings: Findings) -> None:
    findings.say(
        NOT_TAKEN_AFTER,
        f"`{action.written}` can never follow `{before.written}`",
        Label(action.span, f"is taken from {' or '.join(f'`{each.text}`' for each in origins)}"),
        Label(before.span, f"the row is `{at.text}` then"),
    )


def further(actions: Sequence[Action], resource: Resource | None) -> tuple[Transition, ...] | None:
    """The transitions that are taken after the first operation; None: one of them is open or wrong."""
    machine = None if resource is None else resource.machine
    found = [None if machine is None else machine.transitions.get(each.verb) for each in actions[1:]]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def _effect(action: Action) -> str:
    """An action as an effect would be written."""
    if kind_of(action.verb).makes:
        return f"{{create: {action.subject}, sets: {{…}}}}"
    if kind_of(action.verb).as_effect:
        return f"{{{action.verb}: {action.subject}, row: …, sets: {{…}}}}"
    return f"{{take: {action.written}, row: …}}" if action.verb not in VERBS else f"{{update: {action.subject}, …}}"
