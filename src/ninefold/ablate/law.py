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

from ninefold.ablate.compare import Change, does_more, is_blocked, is_less, refuses, said, says_the_same, shows_more
from ninefold.ablate.facts import Removal, Written, written
from ninefold.ablate.fixed import Whole
from ninefold.ablate.provenance import Words, attributed, inside, named, without_cause
from ninefold.ablate.rehearsal import Seen
from ninefold.applicators import SAME_VALUE
from ninefold.contract.survey import Survey
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.conditions import STATUSES
from ninefold.language.fact import value_of
from ninefold.language.key import Key, Kind
from ninefold.language.table import key_named
from ninefold.pipeline import Loaded
from ninefold.plan.places import Place
from ninefold.questions.question import OpenQuestion
from ninefold.syntax.nodes import Mapping

Outcome: TypeAlias = Literal[
    "no difference", "error at a use", "gap", "less", "no longer refused", "what remains says", "not in the language"
]
"""What came: the same responses; errors; a gap that names the fact, with all that it costs; responses with something
missing; responses where refusals were; responses that the other facts give; or, of `none`, that the language admits
none there."""

OUTCOMES: tuple[Outcome, ...] = (
    "no difference", "error at a use", "gap", "less", "no longer refused", "what remains says", "not in the language"
)  # fmt: skip

REFUSALS = 7

_ASKED = (Kind.ASKED, Kind.ASKED_WHEN, Kind.FALLS_BACK)

VERSIONING = 9

AUTHENTICATION = 5
"""The part in which nothing merely restricts."""


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


def judge(
    whole: Whole, fact: Written, removal: Removal, loaded: Loaded, changes: tuple[Change, ...], opened_less: bool | None
) -> Found:
    """`changes`: the requests that are answered in another way. `opened_less`: whether rows that the contract states
    are missing; None: they are the same."""
    case = _Case(whole, fact, removal, loaded, changes, opened_less)
    return Found(fact, removal, case.outcome(), tuple(case.breaches()), tuple(case.widened()))


@dataclass(frozen=True, slots=True)
class _Case:
    whole: Whole
    fact: Written
    removal: Removal
    loaded: Loaded
    changes: tuple[Change, ...]
    opened_less: bool | None

    # What came.

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.loaded.diagnostics if each.code.severity is Severity.ERROR)

    @property
    def questions(self) -> tuple[OpenQuestion, ...]:
        """The questions that are open now and were not."""
        before = {(each.question.id, each.subject, each.text) for each in self.whole.loaded.open_questions}
        return tuple(
            each for each in self.loaded.open_questions if (each.question.id, each.subject, each.text) not in before
        )

    def outcome(self) -> Outcome:
        if self.errors:
            return "not in the language" if self.removal == "none" else "error at a use"
        if self.questions:
            return "gap"
        if not self.changes and self.opened_less is None:
            return "no difference"
        if all(is_less(each.new, each.old) for each in self.changes):
            return "less"
        if all(self._explained(each) and refuses(each.old) for each in self.changes):
            return "no longer refused"
        return "what remains says"

    # What breaks the law.

    def breaches(self) -> Iterator[str]:
        if self.errors:
            yield from self._errors()
            return
        yield from self._gaps()
        gone = self.whole.loaded.source.text[self.fact.span.start : self.fact.span.end]
        words = Words(self.loaded.document, gone) if self.changes else None
        for change in self.changes:
            yield from self._changed(change)
            if words is not None and not is_blocked(change.new):
                yield from self._invented(change, words)
            if self._is_wider(change) and not self._stands_open(change):
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
                if self._is_named(each.shown):
                    yield f"a gap says that it is left out, and it is not: {each.where} {said(each.seen)}"
                    break
        if self.removal != "taken out":
            return
        if fact.kind is Kind.TELLS and questions:
            yield f"a gap, and it only tells: {questions[0].text}"
        elif fact.is_named and not questions:
            yield from self._not_asked()

    def _not_asked(self) -> Iterator[str]:
        """What is wrong with it that no gap says that the fact is missing."""
        match self.fact.kind:
            case Kind.ASKED:
                yield "no gap says that it is missing"
            case Kind.ASKED_WHEN:
                # Its question is asked no longer: then it is as if it added something. An error's condition is spoken
                # for by a wider line of part 7.
                for change in self.changes:
                    spoken_for = self._is_wider_code(change) or self._is_null_refused(change)
                    if not (is_less(change.new, change.old) or change.turns_on_a_tag or spoken_for):
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
        """Whether the line is there that a key falls back to."""
        return any((each.part, each.path) == key.line for each in written(self.loaded.document))

    def _changed(self, change: Change) -> Iterator[str]:
        new, old, fact = change.new, change.old, self.fact
        if is_blocked(new):
            # A version that is not shown is left out whole: requests that name it are answered 501.
            left_out = any(each.question.part == VERSIONING for each in self.questions)
            if not left_out and not self._blocks(self._asked_for(change)):
                yield f"501, and no gap blocks it: {change.words}"
            return
        if new.status == STATUSES["internal"] and change.asked.told.happening != "internal":
            yield f"the service fails: {change.words}"
        if self._blocks(self._asked_for(change)) and old.status not in _BEFORE_BLOCKED:
            yield f"a gap blocks it, and it is answered: {change.words}"
        if fact.kind is Kind.TELLS:
            yield f"it only tells, and something changes: {change.words}"
        elif fact.kind is Kind.ASKED and self.questions and self._is_wider_code(change):
            yield f"a gap says that it is left out, and another line speaks for it: {change.words}"
        elif not self._explained(change):
            yield f"neither without it nor what it refused: {change.words}"
        elif not self._is_its_own(change):
            yield f"that is no matter of part {fact.part}: {change.words}"
        yield from self._untraced(change)

    def _invented(self, change: Change, words: Words) -> Iterator[str]:
        at_hand = (*change.asked.stored, *self.whole.given.values())
        found = words.invented(change.new, change.old, change.asked.told, at_hand)
        if found:
            yield f"from nowhere comes {', '.join(sorted(found))}: {change.words}"

    def _blocks(self, endpoint: str | None) -> bool:
        """Whether a question blocks an endpoint, which an older version may have under another key."""
        keys = {endpoint, _newest_key(self.whole.loaded, endpoint)}
        return any(keys & {*each.blocks} for each in self.questions)

    def _asked_for(self, change: Change) -> str | None:
        """The endpoint that a request is for. Where callers have versions, who it was that called may not be known now,
        and the request is of another version, in which its path may be another endpoint's, or none's."""
        if change.old.endpoint == change.new.endpoint:
            return change.old.endpoint
        assert self.loaded.plan is not None
        before = attributed(self.whole.plan, change.old).version
        now = attributed(self.loaded.plan, change.new).version
        return change.old.endpoint if now == before else change.new.endpoint

    def _explained(self, change: Change) -> bool:
        """Whether a difference is one that the kind allows."""
        new, old = change.new, change.old
        if is_less(new, old) or self._is_bare(new, old) or change.turns_on_a_tag:
            return True
        if self.questions and refuses(old) and refuses(new):
            return True  # what comes later in the order of conditions is refused for what is not shown
        if self.questions and self._asked_for(change) != old.endpoint:
            return True  # as is what is asked of another version
        if self.fact.kind is Kind.RESTRICTS:
            # Its own refusals: of requests, or of rows that a list leaves out. What narrows a restriction gives that
            # one more to refuse when it goes.
            # A row that was left out may refuse what is done to all of them; and what was due is kept back no more.
            more = shows_more(new, old) or (self.fact.names[-1] == "where" and refuses(new))
            own = self._is_named(change.asked.refused_for) if refuses(old) else more or does_more(new, old)
            is_type = self.fact.names[-1] == "format"  # by which values are compared, as times or as text
            return own or is_type or Kind.RESTRICTS in self.fact.within or self._named_members(change)
        return True

    def _named_members(self, change: Change) -> bool:
        """Whether the fact named members (meaning "unknown members"): what it no longer names is unknown, and where
        nothing names any, none is unknown or left out."""
        if self.fact.names[-1] not in _NAMING or self.loaded.plan is None or self.whole.loaded.plan is None:
            return False
        told = (
            *attributed(self.loaded.plan, change.new).refusals,
            *attributed(self.whole.loaded.plan, change.old).refusals,
        )
        return any(each.rule in ("unknown", "required") for each in told)

    def _is_wider_code(self, change: Change) -> bool:
        """Whether one refusal came for another of the same condition: `forbidden` for `forbidden lot`."""
        new, old = change.new, change.old
        return self.fact.part == REFUSALS and refuses(new) and refuses(old) and bool(new.body)

    def _is_null_refused(self, change: Change) -> bool:
        """Whether a `null` is, which the `type` beside a reference admitted (meaning "references")."""
        assert self.loaded.plan is not None
        told = attributed(self.loaded.plan, change.new).refusals
        return self.fact.names[-1] == "type" and any(each.rule == "type" for each in told)

    def _is_named(self, places: frozenset[Place]) -> bool:
        source = self.whole.loaded.source
        return any(inside(place, span, source) for place in places for span in (self.fact.span, *self._shared()))

    def _shared(self) -> Iterator[Span]:
        """The shared schemas that the fact brings in: what they refuse, it refuses."""
        text = self.whole.loaded.source.text[self.fact.span.start : self.fact.span.end]
        types = self.whole.loaded.document.part("resources").facts.get("types")
        if types is not None and isinstance(types.value, Mapping):
            for entry in types.value.entries:
                if f"#/types/{entry.name}" in text:
                    yield entry.span

    def _untraced(self, change: Change) -> Iterator[str]:
        """What of the new response no line that still stands, and nothing else either, accounts for."""
        assert self.loaded.plan is not None
        found = attributed(self.loaded.plan, change.new)
        for part in without_cause(found, change.new):
            yield f"{part} has no cause: {change.words}"
        gone = self.fact.span, self.whole.loaded.source
        if self.removal == "taken out" and any(inside(place, *gone) for place in named(found)):
            yield f"it is traced to the line that is gone: {change.words}"

    def _is_its_own(self, change: Change) -> bool:
        """Whether a difference is in what the fact speaks of: an endpoint's own facts are about its responses, part 6
        about events, part 7 about refusals."""
        new, old, names = change.new, change.old, self.fact.names
        if change.turns_on_a_tag:
            return True
        match self.fact.part:
            case 4 if " " in names[0] and len(names) > 1:
                return names[0] in (old.endpoint, _newest_key(self.whole.loaded, old.endpoint))
            case 6:
                return says_the_same(new, old) or old.endpoint in self._of_events()
            case 7:
                return refuses(old) and refuses(new)
            case _:
                return True

    def _of_events(self) -> frozenset[str]:
        """The endpoints that tell of events, that read the log, or that take who wants to be told."""
        endpoints = value_of(self.whole.loaded.contract.endpoints.endpoints) or ()
        does = {each.key: value_of(each.does) or () for each in endpoints}
        subscription = Survey(self.whole.loaded.contract).graph.subscription
        told = {key for key, done in does.items() if any(each.resource == subscription for each in done)}
        return frozenset((*told, *Survey(self.whole.loaded.contract).reading_back))

    def _is_bare(self, new: Seen, old: Seen) -> bool:
        return refuses(old) and new.status in STATUSES.values() and not new.body

    # What anybody may do or see.

    def widened(self) -> Iterator[str]:
        for change in self.changes:
            if self._is_wider(change) and self._stands_open(change):
                yield change.words

    def _is_wider(self, change: Change) -> bool:
        if self.fact.part != AUTHENTICATION or self.errors or change.turns_on_a_tag:
            return False
        return shows_more(change.new, change.old)

    def _stands_open(self, change: Change) -> bool:
        """Whether `all others` says so, of an endpoint that has no line of its own any more; or what the line says of
        somebody else, such as `anyone`, as whom the caller comes now."""
        before, now = _lines(self.whole.loaded), _lines(self.loaded)
        had_its_own = change.old.endpoint in before and change.old.endpoint not in now
        return ("all others" in now and had_its_own) or self._comes_as_another(change)

    def _comes_as_another(self, change: Change) -> bool:
        assert self.loaded.plan is not None
        before, now = attributed(self.whole.plan, change.old), attributed(self.loaded.plan, change.new)
        line = self.loaded.contract.permission(now.endpoint or "")
        admits = () if line is None else value_of(line.admits) or ()
        return now.caller != before.caller and any(
            each.who.text == now.caller and not self.fact.span.meets(each.who.span) for each in admits
        )


def _lines(loaded: Loaded) -> frozenset[str]:
    """The endpoints, and `all others`, of which part 5 says who may call them."""
    permissions = loaded.document.part("authentication").facts.get("permissions")
    return frozenset(entry.name for entry in getattr(getattr(permissions, "value", None), "entries", ()))


def _newest_key(loaded: Loaded, endpoint: str | None) -> str | None:
    """What an endpoint of some version is called in the newest."""
    versions = None if loaded.checked is None else loaded.checked.versions
    called: dict[str, str] = {}
    for version in () if versions is None else versions.versions:
        called |= {here: called.get(above, above) for here, above in version.moved.items()}
    return endpoint if endpoint is None else called.get(endpoint, endpoint)


_NAMING = {"properties", "patternProperties", "additionalProperties", *SAME_VALUE} - {"not"}
"""The keywords of a schema by which members are named (meaning "unknown members")."""

_BEFORE_BLOCKED = (STATUSES["no such path"], STATUSES["method not allowed"])
