"""Effects of effects: transitions that their own effects take again, or that cause too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from ninefold.checks.findings import Findings
from ninefold.diagnostics.codes import EFFECT_IN_A_CIRCLE, TOO_MANY_EFFECTS
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.reads import in_order
from ninefold.language import effects as stated
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.language.verbs import kind_of

MOST_EFFECTS: Final = 100
"""Of one transition, with those of the transitions that it takes: all are written in one transaction."""

Taken: TypeAlias = tuple[str, str]
"""A resource, and a transition of it."""


def without_an_end(written: Mapping[Taken, Fact[tuple[stated.Effect, ...]]], findings: Findings) -> tuple[Taken, ...]:
    """Says of a transition that its own effects lead back to it, or that they are too many, and gives these."""
    leads = {key: [(each.subject, each.verb) for each in value_of(then) or ()] for key, then in written.items()}
    counts = _counts(leads)
    told: set[Taken] = set()
    found: list[Taken] = []
    for key, then in written.items():
        resource, transition = key
        circle = frozenset[Taken]() if key in counts else _reached(key, leads)
        if key in circle and isinstance(then, Shown) and key not in told:
            told |= circle
            message = f"the effects of `{transition} {resource}` lead back to it"
            findings.say(EFFECT_IN_A_CIRCLE, message, Label(then.span, "has no end"))
        elif (
            isinstance(then, Shown)
            and counts.get(key, 0) > MOST_EFFECTS
            and all(counts.get(each, 0) <= MOST_EFFECTS for each in leads[key])
        ):
            message = f"with those of what they take, `{transition} {resource}` has more than {MOST_EFFECTS} effects"
            findings.say(TOO_MANY_EFFECTS, message, Label(then.span, "too many at once"))
        if key in circle or counts.get(key, 0) > MOST_EFFECTS:
            found.append(key)
    return tuple(found)


def deleted_by(effect: stated.Effect, written: Mapping[Taken, Fact[tuple[stated.Effect, ...]]]) -> set[str]:
    """The resources of which an effect that is a transition deletes rows, by what follows from it."""
    found, met, ahead = set[str](), set[Taken](), [(effect.subject, effect.verb)]
    while ahead:
        key = ahead.pop()
        following = () if key in met or key not in written else value_of(written[key]) or ()
        met.add(key)
        found |= {each.subject for each in following if kind_of(each.verb).removes}
        ahead += [(each.subject, each.verb) for each in following]
    return found


def _counts(leads: Mapping[Taken, Sequence[Taken]]) -> Mapping[Taken, int]:
    """How many effects each transition has, with those of the transitions that it takes; of those alone that lead to no
    circle."""
    counts: dict[Taken, int] = {}
    for key in in_order(leads):
        # Beyond the bound it does not matter by how much.
        counts[key] = min(sum(1 + counts.get(each, 0) for each in leads[key]), MOST_EFFECTS + 1)
    return counts


def _reached(key: Taken, leads: Mapping[Taken, Sequence[Taken]]) -> frozenset[Taken]:
    """The transitions that the effects of one lead to."""
    found, ahead = set[Taken](), [key]
    while ahead:
        more = {each for each in leads[ahead.pop()] if each in leads} - found
        found |= more
        ahead += more
    return frozenset(found)
