"""What one difference does without the others: it alone is made in the old contract, or taken back in the new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.answers import Met
from ninefold.diff.changes import Change
from ninefold.diff.edits import made, turned
from ninefold.diff.meaning import NOTHING, Felt, Meaning, felt, meaning
from ninefold.diff.precise import met, reached
from ninefold.diff.shown import shows_all_of
from ninefold.pipeline import Loaded, compile_tree
from ninefold.plan.service import ServicePlan
from ninefold.questions.question import OpenQuestion

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
    plan: ServicePlan | None = None
    """The old contract with it alone; None: only the new one without it could be made."""
    known: bool = True
    reached: tuple[str, ...] = ()
    adds: bool = False


class Both:
    """The two contracts as what they do."""

    def __init__(self, old: Loaded, new: Loaded, changes: Sequence[Change]) -> None:
        assert old.plan is not None and new.plan is not None
        self.old, self.new = old, new
        self.old_plan, self.new_plan = old.plan, new.plan
        self.before, self.after = meaning(old.plan), meaning(new.plan)
        self._changes = changes
        self._looked = 0

    @cached_property
    def whole(self) -> Alone:
        """All differences together; not what is only written otherwise."""
        if not self._changes:
            return Alone(NOTHING, {}, (), (), self.old.plan)
        all_of_them = _compiled(self.old, self._changes, self.new) or (self.new, self.after)
        return replace(_alone(self.old, self.before, *all_of_them), plan=all_of_them[0].plan)

    def alone(self, changes: Sequence[Change], is_all: bool) -> Alone:
        """`is_all`: there are no others."""
        if is_all:
            return self.whole
        self._looked += 1
        if self._looked <= MOST:
            with_it = _compiled(self.old, changes, self.new)
            if with_it is not None:
                return self._left(replace(_alone(self.old, self.before, *with_it), plan=with_it[0].plan))
            without = _compiled(self.new, turned(changes), self.old)
            if without is not None:
                return self._left(_alone(*without, self.new, self.after))
        whole = self.whole
        return replace(whole, known=False)

    def _left(self, alone: Alone) -> Alone:
        """Without the gaps that another difference closes, or opens."""
        open_now, open_then = _asked(self.new), _asked(self.old)
        return replace(
            alone,
            opened=tuple(each for each in alone.opened if _question(each) in open_now),
            closed=tuple(each for each in alone.closed if _question(each) in open_then),
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


def _asked(loaded: Loaded) -> set[tuple[str, str]]:
    return set(map(_question, loaded.open_questions))


def _compiled(old: Loaded, changes: Sequence[Change], new: Loaded) -> tuple[Loaded, Meaning] | None:
    """None: what comes of it has errors, or is no document at all."""
    try:
        loaded = compile_tree(made(old.document, changes, new.document))
        return None if loaded.plan is None else (loaded, meaning(loaded.plan))
    except Exception:  # places of two documents in one: what cannot cope with it says nothing of either
        return None


def _alone(old: Loaded, before: Meaning, new: Loaded, after: Meaning) -> Alone:
    found = felt(before, after)
    was, now = _asked(old), _asked(new)
    all_met = met(before, after, found)
    is_more = any(each.direction == "more" and each.side in ("gives", "tells") for each in all_met)
    return Alone(
        found,
        all_met,
        tuple(each for each in new.open_questions if _question(each) not in was and not _stays(each, old)),
        tuple(each for each in old.open_questions if _question(each) not in now and not _stays(each, new)),
        reached=tuple(reached(before, after, found)),
        adds=is_more and old.checked is not None and new.checked is not None and shows_all_of(old.checked, new.checked),
    )
