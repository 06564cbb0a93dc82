"""The honesty law: what may come of a contract when one of its facts is taken away, by its kind and nothing else.

| kind      | taken out                                                                                           |
|-----------|-----------------------------------------------------------------------------------------------------|
| asked     | errors at the uses; or a gap that says so, and what it blocks is 501, what it leaves out is missing  |
| asked when X | the same; or, where X is not so, the response without it                                         |
| falls back to LINE | the same; or, where LINE stands, what LINE says                                             |
| restricts | what was refused for it is not; nothing else changes                                                |
| adds      | the response without it                                                                             |
| names     | errors at each use                                                                                  |
| tells     | nothing                                                                                             |

`not shown` is a gap whatever it stands for. `none` is, for what no question asks for, the same as nothing; for what
one asks for it is an answer only where the table says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.ablate.compare import Change, has_condition, is_blocked, is_less, refuses, said
from ninefold.diff.ablate.facts import Removal, Written, written
from ninefold.diff.ablate.provenance import Words, attributed, inside, named, without_cause
from ninefold.diff.ablate.removed import VERSIONING, Removed
from ninefold.language.conditions import STATUSES
from ninefold.language.key import Key, Kind
from ninefold.language.table import key_named
from ninefold.syntax.nodes import Word

Outcome: TypeAlias = Literal[
    "no difference", "error at a use", "gap", "less", "no longer refused", "what remains says", "not in the language"
]
"""What came: the same responses; errors; a gap that names the fact, with all that it costs; responses with something
missing; responses where refusals were; responses that the other facts give; or, of `none`, that the language admits
none there."""

OUTCOMES: tuple[Outcome, ...] = (
    "no difference", "error at a use", "gap", "less", "no longer refused", "what remains says", "not in the language"
)  # fmt: skip

_ASKED = (Kind.ASKED, Kind.ASKED_WHEN, Kind.FALLS_BACK)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one removal. `breaches` say how it breaks the law; `widened`: the requests that may do or see more,
    because a line that still stands says so."""

    fact: Written
    removal: Removal
    outcome: Outcome
    breaches: tuple[str, ...] = ()
    widened: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing shows that the fact says anything, though it should."""
        return self.removal == "taken out" and self.outcome == "no difference" and self.fact.kind is not Kind.TELLS


def _parent_and_name(path: str) -> tuple[str, str]:
    parent, _, name = path.rpartition(".")
    return parent, name


def failing(fact: Written, removal: Removal, error: Exception) -> Found:
    """What is found where the compiler or the service cannot cope with what is left."""
    return Found(fact, removal, "what remains says", (f"ninefold fails: {type(error).__name__}: {error}",))


def judge(removed: Removed, changes: tuple[Change, ...], opened_less: bool | None) -> Found:
    """`changes`: the requests that are answered in another way. `opened_less`: whether rows that the contract states
    are missing; None: they are the same."""
    own = removed.whole, removed.fact, removed.removal, removed.loaded, removed.as_if
    case = _Case(*own, changes, opened_less)
    return Found(removed.fact, removed.removal, case.outcome(), tuple(case.breaches()), tuple(case.widened()))


@dataclass(frozen=True, slots=True)
class _Case(Removed):
    changes: tuple[Change, ...]
    opened_less: bool | None

    def outcome(self) -> Outcome:
        if self.errors:
            return "not in the language" if self.removal == "none" else "error at a use"
        if self.questions:
            return "gap"
        if not self.changes and self.opened_less is None:
            return "no difference"
        if all(is_less(each.new, each.old) for each in self.changes):
            return "less"
        if all(self.explains(each) and refuses(each.old) for each in self.changes):
            return "no longer refused"
        return "what remains says"

    # What breaks the law.

    def breaches(self) -> Iterator[str]:
        if self.errors:
            yield from self._errors()
            return
        yield from self._gaps()
        yield from self._answered_still()
        gone = self.whole.loaded.source.text[self.fact.span.start : self.fact.span.end]
        words = Words(self.loaded.document, gone) if self.changes else None
        for change in self.changes:
            yield from self._changed(change)
            if words is not None and not is_blocked(change.new):
                yield from self._invented(change, words)
            if self.is_wider(change) and not self.stands_open(change):
                yield f"somebody may do or see more: {change.words}"

    def _errors(self) -> Iterator[str]:
        """An error is a use of what is not there any more: of a name, or of what something else relies on. What only
        tells is used by nothing."""
        if self.removal == "none":
            return
        if self.fact.kind is Kind.TELLS and self.removal == "taken out":
            yield f"an error, and it only tells: {self.errors[0].message}"

    def _gaps(self) -> Iterator[str]:
        fact, questions = self.fact, self.questions
        if self.removal == "not shown":
            if not any(each.span.meets(fact.place) for each in questions):
                yield "`not shown` is written, and no gap names it"
        elif self.removal == "none" and self._key is not None and not self._key.admits_none:
            yield "`none` is no answer here, and it is taken for one"
        elif self.removal == "none":
            for question in questions:
                if question.span.start == fact.place.start:
                    yield f"`none` is written, and a gap says that it is not shown: {question.text}"
        key = self._key
        adds = fact.kind is Kind.FALLS_BACK and key is not None and not key.is_asked
        was_none = self.whole.loaded.source.text[fact.place.start : fact.place.end] == "none"
        is_silent = fact.kind in _ASKED and not (adds or was_none or self.changes) and self.opened_less is None
        if self.removal != "none" and questions and is_silent:
            for each in self.whole.asked:
                if self.is_named(each.shown):
                    yield f"a gap says that it is left out, and it is not: {each.where} {said(each.seen)}"
                    break
        if self.removal != "taken out":
            return
        if fact.kind is Kind.TELLS and questions:
            yield f"a gap, and it only tells: {questions[0].text}"
        elif fact.is_named and not questions:
            yield from self._not_asked()

    def _answered_still(self) -> Iterator[str]:
        """What is answered as it was, and a gap blocks it. What asks of an entity tag may not have been asked again."""
        changed = {id(each.asked) for each in self.changes}
        for each in self.whole.asked if any(each.blocks for each in self.questions) else ():
            seen = each.seen
            if id(each) in changed or seen.endpoint is None or is_blocked(seen) or has_condition(each):
                continue
            if seen.status not in _BEFORE_BLOCKED and self.blocks_still(each):
                yield f"a gap blocks it, and it is answered: {each.where} {said(seen)}"

    def _not_asked(self) -> Iterator[str]:
        """What is wrong with it that no gap says that the fact is missing."""
        match self.fact.kind:
            case Kind.ASKED:
                yield "no gap says that it is missing"
            case Kind.ASKED_WHEN:
                # Its question is asked no longer: then it is as if it added something, or something else speaks for it.
                for change in self.changes:
                    less = is_less(change.new, change.old) or change.turns_on_a_tag
                    if not (less or self.is_spoken_for(change)):
                        yield f"no gap says that it is missing, and something changes: {change.words}"
                        return
            case Kind.FALLS_BACK:
                key = self._key
                if key is None or (key.is_asked and not self._stands(key)):
                    yield "no gap says that it is missing, and no line holds in its place"

    @property
    def _key(self) -> Key | None:
        """The row of the fact; None: it has none of its own. Where it would fall back to a line that is not there, and
        is not asked for, it is a line like that one."""
        if not self.fact.is_named:
            return None
        key = key_named(self.fact.part, *_parent_and_name(self.fact.path))
        if key is None or key.line is None or key.is_asked or self._stands(key):
            return key
        part, path = key.line
        return key_named(part, *_parent_and_name(path))

    def _stands(self, key: Key) -> bool:
        """Whether the line is there that a key falls back to, if only with all of its part."""
        if key.line is None:
            return False
        if (statement := self.loaded.document.parts[key.line[0] - 1].statement) is not None:
            return statement.word is Word.NONE  # of which each line is none
        return any((each.part, each.path) == key.line for each in written(self.loaded.document))

    def _changed(self, change: Change) -> Iterator[str]:
        new, old, fact = change.new, change.old, self.fact
        if is_blocked(new):
            # A version that is not shown is left out whole: requests that name it are answered 501.
            left_out = any(each.question.part == VERSIONING for each in self.questions)
            if not (left_out or self.blocks(change) or self.lacks(change)):
                yield f"501, and no gap blocks it: {change.words}"
            return
        if new.status == STATUSES["internal"] and change.asked.told.happening != "internal":
            yield f"the service fails: {change.words}"
        if self.blocks(change) and old.status not in _BEFORE_BLOCKED:
            yield f"a gap blocks it, and it is answered: {change.words}"
        if fact.kind is Kind.TELLS:
            yield f"it only tells, and something changes: {change.words}"
        elif fact.kind is Kind.ASKED and self.questions and self.is_wider_code(change):
            yield f"a gap says that it is left out, and another line speaks for it: {change.words}"
        elif not self.explains(change):
            yield f"neither without it nor what it refused: {change.words}"
        elif not self.is_its_own(change):
            yield f"that is no matter of part {fact.part}: {change.words}"
        yield from self._untraced(change)

    def _invented(self, change: Change, words: Words) -> Iterator[str]:
        at_hand = (*change.asked.stored, *self.whole.given.values())
        found = words.invented(change.new, change.old, change.asked.told, at_hand)
        if found:
            yield f"from nowhere comes {', '.join(sorted(found))}: {change.words}"

    def _untraced(self, change: Change) -> Iterator[str]:
        """What of the new response no line that still stands, and nothing else either, accounts for."""
        assert self.loaded.plan is not None
        found = attributed(self.loaded.plan, change.new)
        for part in without_cause(found, change.new):
            yield f"{part} has no cause: {change.words}"
        gone = self.fact.span, self.whole.loaded.source
        if self.removal == "taken out" and any(inside(place, *gone) for place in named(found)):
            yield f"it is traced to the line that is gone: {change.words}"

    # What anybody may do or see.

    def widened(self) -> Iterator[str]:
        for change in self.changes:
            if self.is_wider(change) and self.stands_open(change):
                yield change.words


_BEFORE_BLOCKED = (STATUSES["no such path"], STATUSES["method not allowed"])
