"""One cause, one diagnostic: what depends on a declaration that was refused is not judged.

A name that cannot be one, a resource that nothing declares and a field whose schema is wrong are told where they are;
what is said of the expressions and names that read them follows from that, and comes back by itself where it does not.
So does what is only said because something is absent: what could not be read may have been it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from ninefold.contract.resolve.once import (
    GOES_NOWHERE,
    HAS_NO,
    OF_THE_PATH,
    QUOTED,
    Misread,
    beside_nothing,
    is_astray,
    once,
    taking_words,
)
from ninefold.contract.resolve.placed import Declaration, Declared, Written, fields_of
from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import (
    KIND_NOT_TOLD,
    LOSES,
    NO_SUCH_CHANGE,
    NO_SUCH_FIELD,
    NO_SUCH_FUNCTION,
    NO_SUCH_NAME,
    NOT_A_VALUE,
    NOT_AN_ACTION,
    NOT_AN_ENDPOINT,
    NOT_IN_SQL,
    UNDECLARED,
    UNKNOWN_KEY,
    UNREADABLE,
    UNUSED_TERM,
    WRONG_SHAPE,
    WRONG_TYPE,
)
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import is_guess
from ninefold.language.conditions import CONDITIONS_OF_GRANTS
from ninefold.language.terms import names_in
from ninefold.syntax.nodes import Document, Mapping, Node, Sequence, every_entry, scalars

_FIRST_OF_EXPRESSIONS, _FIRST_OF_MEANINGS = "NF0400", "NF0500"
_UNUSED = frozenset({"NF0516", "NF0518", "NF0519", "NF0569", UNUSED_TERM.id})
"""What is said of a whole contract: that nothing uses something."""

_NEEDS_WHAT_IS_NONE = "NF0592"

_OF_CALLERS = frozenset({"NF0588", "NF0596"})

_OF_CHANGES = frozenset({LOSES.id, NO_SUCH_CHANGE.id})
"""What is said of a change of part 9 by what else its item says."""

_LACKS = frozenset(
    {"NF0503", "NF0505", "NF0566", "NF0567", "NF0572", "NF0574", "NF0576", "NF0584", "NF0621", "NF0632",
     "NF0640", "NF0760",
     *_OF_CALLERS, *_OF_CHANGES}
)  # fmt: skip
"""What is said of one declaration: that nothing in it, or in what it names, gives, finds or tells something."""

_CANNOT_HAVE = "NF0771"
_OF_A_PART = frozenset({"NF0326", "NF0512", GOES_NOWHERE, "NF0535", "NF0581", _CANNOT_HAVE})
"""What is said of a part of a declaration, by what else stands in it."""

_OF_A_VERB = frozenset({"NF0506", "NF0522", "NF0590", "NF0608"})
"""What is said of an endpoint by its verb, which may only be guessed."""

_OF_VERBS = frozenset({"before", "issued", "page"})
"""Names that some verbs give."""

_NO_ENDPOINT = frozenset({UNDECLARED.id, "NF0701"})
_NAMED = regex.compile(r"\{[^}]*\}")

_OF_NO_TYPE = frozenset({"NF0411", "NF0541"})
"""What is said of a value of which no type is known."""

_GRANTED = "granted"
_WORDS = regex.compile(r"\w+")
_CALLER = regex.compile(r"(?<![\w.])caller(?!\w)")


def causes(document: Document, said: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """What is said, without what only follows from something else that is; of a name that nothing declares, once."""
    if not any(each.code.severity is Severity.ERROR for each in said):
        return said
    unknown = {each.of for each in said if each.of and each.code is UNDECLARED}
    refused = {each.of for each in said if each.of and each.code is not UNDECLARED}
    of_faulty = set(_faulty(document, said))
    faulty = {f".{name}" for _, name in of_faulty}
    untyped, mixed = {name for name, _ in of_faulty}, _mixed(document, unknown)
    misread: tuple[_Machine | Misread, ...] = (*_machines(document, said), *taking_words(document, said))
    beside = tuple(beside_nothing(document, said))
    firsts = {next((each.span for each in said if span.start <= each.span.start < span.end), span) for span in beside}
    skipped, unshaped = _skipped(document, said), _unshaped(document, said)
    # Where nothing seems to grant tokens, nothing is asked of who wants one.
    below = _words(document, beside).union(CONDITIONS_OF_GRANTS if "grant" in skipped else ())
    skipped |= below
    unread_in, written = _Unread(document, said), Written(document)
    # What is done to a resource that has states is as unknown as the resource.
    undone = _reading(unknown & {entry.name for entry in document.part("states").facts.entries})
    names, unread, wrong = _reading(refused), _reading(unknown), _reading(faulty)

    def follows(each: Diagnostic) -> bool:
        if each.span not in firsts and any(span.start <= each.span.start < span.end for span in beside):
            return True
        if each.code is UNKNOWN_KEY and is_astray(each, said):
            return True
        if each.code is UNDECLARED and _is_not_there(each, below):
            return True
        if each.of or each.code.severity is Severity.NOTE:
            return False
        if unread_in.may_be_why(each) or _is_not_there(each, skipped) or unread_in.goes_by_another_path(each):
            return True
        of_misread = any(one.holds(each) for one in misread) or (each.span in unshaped and _is_of_meaning(each))
        if of_misread or _is_of_skipped(each, skipped):
            return True
        quoted = QUOTED.findall(each.message)
        if each.code.id in HAS_NO and not mixed.isdisjoint(quoted):
            return True
        if each.code is WRONG_TYPE and not untyped.isdisjoint(quoted):
            return True
        told = " ".join(f".{name}" for name in quoted)
        place = "" if each.code is UNREADABLE else written.around(each.span)
        of_expressions = each.code.id >= _FIRST_OF_EXPRESSIONS
        # A row is compared with a row: who calls may have been one.
        if each.code is NOT_A_VALUE and unread_in.is_of_schemes and _CALLER.search(place):
            return True
        if of_expressions or each.code in (UNDECLARED, NOT_AN_ACTION):
            if _found(names, told) or _found(names, place):
                return True
        if not of_expressions or each.code is UNREADABLE:
            return each.code is NOT_AN_ACTION and _found(undone, told)
        if _found(unread, told) or _found(unread, place):
            return True
        # What has no such name was known: a type that is not known finds every name.
        return each.code not in (NO_SUCH_FIELD, NO_SUCH_NAME) and (_found(wrong, told) or _found(wrong, place))

    kept = tuple(once(document, (each for each in said if not follows(each))))
    # Whatever follows from what, that the contract cannot be served is said.
    return kept if any(each.code.severity is Severity.ERROR for each in kept) else said


def _faulty(document: Document, said: tuple[Diagnostic, ...]) -> Iterator[tuple[str, str]]:
    """The fields of part 2 of which something is wrong, each with its resource; also in a type that they refer to."""
    fields = [(resource.name, entry) for resource, own in fields_of(document) for entry in own]
    wrong = sorted(each.span.start for each in said if _is_of_reading(each))
    of_types = _to_types(document, wrong)
    for resource, entry in fields:
        if _any_in(wrong, entry.span) or _refers(entry.value, of_types):
            yield resource, entry.name


def _to_types(document: Document, wrong: list[int]) -> set[str]:
    """What refers to a shared type in which something is wrong, or that refers to such a one: `#/types/TYPE`."""
    types = document.part("resources").facts.under("types")
    found = {f"#/types/{each.name}" for each in types if _any_in(wrong, each.span)}
    while more := {f"#/types/{each.name}" for each in types if _refers(each.value, found)} - found:
        found |= more
    return found


def _is_of_reading(each: Diagnostic) -> bool:
    """Whether it says what cannot be read, before anything is made of it."""
    return each.code.id < _FIRST_OF_EXPRESSIONS and each.code.severity is Severity.ERROR


def _refers(node: Node, types: set[str]) -> bool:
    return bool(types) and any(each.text in types for each in scalars(node))


def _mixed(document: Document, unknown: set[str]) -> frozenset[str]:
    """The resources that include another which nothing declares: what they have is not known."""
    both = ((each.name, each.value.get("includes")) for each in document.part("resources").facts.entries
            if isinstance(each.value, Mapping))  # fmt: skip
    return frozenset(
        name
        for name, included in both
        if included is not None and any(each.text in unknown for each in scalars(included.value))
    )


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine of part 3 that cannot be read whole: which states are reached is not known."""

    resource: str
    span: Span

    def holds(self, each: Diagnostic) -> bool:
        if each.code is NOT_AN_ACTION:
            return each.message.endswith(f"`{self.resource}`")
        is_inside = self.span.start <= each.span.start < self.span.end
        return is_inside and each.code.id >= _FIRST_OF_EXPRESSIONS


def _machines(document: Document, said: tuple[Diagnostic, ...]) -> Iterator[_Machine]:
    for entry in document.part("states").facts.entries:
        for each in said:
            if (
                _is_of_reading(each)
                and each.code is not UNDECLARED
                and entry.span.start <= each.span.start < entry.span.end
            ):
                yield _Machine(entry.name, entry.span)
                break


def _any_in(starts: list[int], span: Span) -> bool:
    at = bisect_left(starts, span.start)
    return at < len(starts) and starts[at] < span.end


def _roots(document: Document) -> frozenset[str]:
    """Names that a contract gives, and some that it need not give: where one cannot be read it is not misspelt."""
    part = document.part("resources")
    return frozenset(("request", _GRANTED, *(each.name for each in part.facts.entries), *names_in(part)))


class _Unread:
    """What could not be read: where, and in which declarations, such as a field, an endpoint or a scheme."""

    def __init__(self, document: Document, said: tuple[Diagnostic, ...]) -> None:
        self._declared = Declared(document)
        errors = [each for each in said if each.code.severity is Severity.ERROR]
        self._meant = {name for each in errors for help in each.help if is_guess(help) for name in QUOTED.findall(help)}
        self._is_any = any(each.code.id != _NEEDS_WHAT_IS_NONE for each in errors)
        unread = [each for each in errors if each.code.id < _FIRST_OF_MEANINGS or each.code.id in HAS_NO]
        self._starts = sorted(each.span.start for each in unread)
        self._roots = _roots(document)
        causes = [each for each in unread if not self._follows_by_itself(each)]
        self._causes = sorted(each.span.start for each in causes)
        self._of_causes = {one.name for each in causes for one in self._declared.around(each.span)[:1]}
        paths = {self._declared.around(each.span)[:1]: each for each in reversed(unread) if each.code.id == OF_THE_PATH}
        self._paths = frozenset(id(each) for each in paths.values())
        moved = (self._declared.around(each.span)[:1] for each in unread if each.code.id == OF_THE_PATH)
        self._moved = {_NAMED.sub("{}", one.name) for around in moved for one in around}
        self._guessed = {one for each in unread if each.code is NOT_AN_ACTION
                         for one in self._declared.around(each.span)[:1]}  # fmt: skip
        self._names = {one.name for each in unread for one in self._declared.around(each.span)}
        reading = [each for each in unread if each.code.id < _FIRST_OF_EXPRESSIONS and each.code is not UNDECLARED]
        self._misread = sorted(each.span.start for each in reading)
        fields = {one for each in reading for one in self._declared.around(each.span) if one.owner is not None}
        self._open = fields | self._referring(document)
        self._endpoints = {each.name: each.span for each in document.part("endpoints").facts.entries}
        schemes = document.part("authentication").facts.get("schemes")
        callers = document.part("authentication").facts.span if schemes is None else schemes.span
        self.is_of_schemes = _any_in(self._starts, callers)
        self._is_granted = schemes is not None and _any_in(self._misread, schemes.span)
        resources = document.part("resources").facts
        types = resources.get("types")
        self._is_of_rows = _any_in(self._misread, resources.span)
        self._is_of_types = types is not None and _any_in(self._starts, types.span)
        self._is_of_callers = _any_in(self._starts, document.part("authentication").facts.span)
        self._is_of_events = _any_in(self._misread, document.part("events").facts.span)
        self._changed = set(_of_items(document.part("versioning").facts, self._starts))
        self._spans = {each.key.span: each.span for part in document.parts for each in every_entry(part.facts)}

    def _referring(self, document: Document) -> set[Declaration]:
        """What refers to a shared type that cannot be read whole."""
        types = _to_types(document, self._misread)
        texts = (each for part in document.parts for each in scalars(part.facts)) if types else ()
        return {one for each in texts if each.text in types for one in self._declared.around(each.span)[:1]}

    def goes_by_another_path(self, each: Diagnostic) -> bool:
        """Whether an endpoint is told not to be there that goes by a path in which a name is none."""
        named = QUOTED.findall(each.message) if each.code.id in _NO_ENDPOINT else []
        return bool(named) and _NAMED.sub("{}", named[0]) in self._moved

    def _follows_by_itself(self, each: Diagnostic) -> bool:
        """Whether it is an error of what is spelt right, wherever something else could not be read."""
        if each.code is NO_SUCH_NAME:
            return not self._roots.isdisjoint(QUOTED.findall(each.message)[:1])
        is_of_no_type = each.code.id in _OF_NO_TYPE or (each.code is NOT_IN_SQL and "of any type" in each.message)
        return is_of_no_type or each.code.id in _OF_A_PART

    def _is_misspelt(self, each: Diagnostic) -> bool:
        """Whether a member that goes nowhere seems to be another one, and is not what else is told to be meant."""
        named = QUOTED.findall(each.message)
        return not named or (any(map(is_guess, each.help)) and self._meant.isdisjoint(named[-1:]))

    def may_be_why(self, each: Diagnostic) -> bool:
        """Whether it is said because of what something is not, and what that is could not be read."""
        if each.code.id in _UNUSED:
            return bool(self._starts)
        if each.code.id == _NEEDS_WHAT_IS_NONE:
            return self._is_any
        around = self._declared.around(each.span)
        if each.code.id == OF_THE_PATH:
            return id(each) not in self._paths or any(_any_in(self._misread, one.span) for one in around[:1])
        of_verb = each.code is NO_SUCH_NAME and not _OF_VERBS.isdisjoint(QUOTED.findall(each.message)[:1])
        if (of_verb or each.code.id in _OF_A_VERB) and not self._guessed.isdisjoint(around[:1]):
            return True
        if each.code.id in _OF_A_PART:
            if each.code.id == GOES_NOWHERE and self._is_misspelt(each):
                return False
            starts = self._starts if each.code.id == _CANNOT_HAVE else self._causes
            named = (self._endpoints[name] for name in QUOTED.findall(each.message) if name in self._endpoints)
            return any(_any_in(starts, span) for span in (*(one.span for one in around[:1]), *named))
        if each.code.id in _OF_CALLERS and self._is_of_callers:
            return True
        if each.code is KIND_NOT_TOLD and self._is_of_events:
            return True
        if each.code.id in _OF_CHANGES and not self._changed.isdisjoint(QUOTED.findall(each.message)):
            return True
        if self._follows_by_itself(each):
            if each.code is NO_SUCH_NAME and _GRANTED in QUOTED.findall(each.message):
                return self._is_granted
            if each.code.id in _OF_NO_TYPE and self._is_of_types:
                return True
            return self._is_of_rows or not self._of_causes.isdisjoint(one.name for one in around[:1])
        if each.code.id in _LACKS:
            inside = _any_in(self._starts, self._spans.get(each.span, each.span))
            names = QUOTED.findall(each.message)
            return inside or not (self._names.isdisjoint(names) and self._open.isdisjoint(around))
        if each.code is NO_SUCH_FIELD and each.message.startswith("`caller` has no"):
            return self.is_of_schemes
        is_of_name = each.code.id < _FIRST_OF_EXPRESSIONS or each.code in (NO_SUCH_FIELD, NO_SUCH_NAME, UNREADABLE)
        return not is_of_name and not self._open.isdisjoint(around)


def _skipped(document: Document, said: tuple[Diagnostic, ...]) -> frozenset[str]:
    """The words of what stands under keys that are none, and those that they may have been meant for."""
    refused = {each.span.start: each for each in said if each.code in (UNKNOWN_KEY, NOT_AN_ENDPOINT)}
    parts = (part.facts for part in document.parts) if refused else ()
    entries = (each for facts in parts for each in every_entry(facts) if each.key.span.start in refused)
    meant = {word for each in refused.values() for help in each.help for word in QUOTED.findall(help)}
    return _words(document, [each.span for each in entries]) | meant


def _words(document: Document, spans: Iterable[Span]) -> frozenset[str]:
    return frozenset(word for each in spans for word in _WORDS.findall(document.source.cut(each)))


def _is_under(name: str, skipped: frozenset[str]) -> bool:
    words = _WORDS.findall(name)
    return bool(words) and skipped.issuperset(words)


def _is_not_there(each: Diagnostic, skipped: frozenset[str]) -> bool:
    """Whether a name is told not to be there that stands where nothing is read."""
    if not skipped or each.code.id not in HAS_NO | {NO_SUCH_NAME.id, NO_SUCH_FUNCTION.id, UNDECLARED.id}:
        return False
    names = QUOTED.findall(each.message)
    return bool(names) and _is_under(names[-1 if " has no " in each.message else 0].rpartition(" ")[2], skipped)


def _of_items(node: Node, starts: list[int]) -> Iterator[str]:
    """What stands in items that are mappings, and in which something is."""
    if isinstance(node, Mapping):
        for each in node.entries:
            yield from _of_items(each.value, starts)
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping) and _any_in(starts, item.span):
            yield from (each.text for each in scalars(item))


def _is_of_skipped(each: Diagnostic, skipped: frozenset[str]) -> bool:
    """Whether a warning, such as that nothing uses something, is about what stands where nothing is read."""
    named = QUOTED.findall(each.message)
    return _is_of_meaning(each) and bool(named) and all(_is_under(name, skipped) for name in named)


def _unshaped(document: Document, said: tuple[Diagnostic, ...]) -> frozenset[Span]:
    """The keys of what has another shape than it should, so that nothing of it is known."""
    wrong = {each.span for each in said if each.code is WRONG_SHAPE}
    entries = (entry for part in document.parts for entry in every_entry(part.facts)) if wrong else ()
    return frozenset(each.key.span for each in entries if each.value.span in wrong)


def _is_of_meaning(each: Diagnostic) -> bool:
    """Whether it is a warning of what has been read."""
    return each.code.severity is Severity.WARNING and each.code.id >= _FIRST_OF_EXPRESSIONS


def _reading(names: set[str]) -> re.Pattern[str] | None:
    """What finds where any of these names is read: `.NAME` behind a dot only."""
    chosen = "|".join(
        re.escape(name) if name.startswith(".") else r"(?<!\w)" + re.escape(name)
        for name in sorted(names, key=len, reverse=True)
    )
    return regex.compile(f"(?:{chosen})(?!\\w)") if names else None


def _found(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is not None and pattern.search(text) is not None
