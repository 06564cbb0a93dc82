"""What an action that is none was meant to be: `get rooms`, `booking.lapse`, `booking closed`, `lapse`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ninefold.diagnostics.frozen import dataclass
from ninefold.language.reading import Reading
from ninefold.language.verbs import ALL, VERBS, kind_of
from ninefold.language.written import singulars

_CALLED = {word: verb.name for verb in VERBS.values() for word in verb.also}
"""What others call the verbs."""

_READ_OR_LIST = tuple(verb.name for verb in VERBS.values() if verb.reads_rows)
"""What others call the first of them, they call all: which one it is, the path and the other keys of the endpoint
tell."""

_PASSED_OVER = frozenset(("a", "an", "the", "on", "upon", "when", "after", "is", "was", "has", "been", "of", "all"))
"""Words that say nothing of which action it is."""

_OF_LISTS = frozenset(("sorts", "filters", "pages"))
"""Keys that an endpoint has which lists."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Whose action it is. `verbs`: what it may do besides the contract's transitions. An endpoint has a `key`, and
    the `keys` under which the rest of it is said."""

    called: str
    verbs: tuple[str, ...]
    key: str = ""
    keys: Collection[str] = ()

    @property
    def is_endpoint(self) -> bool:
        return bool(self.key)

    @property
    def on_resources(self) -> tuple[str, ...]:
        """The verbs that stand before a resource."""
        return tuple(each for each in self.verbs if kind_of(each).acts_on == "a resource")


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
    if "row" in by.keys or by.key.endswith("}"):
        return "read"
    last = by.key.rpartition("/")[2].casefold()
    return "list" if is_plural or (last != subject.casefold() and subject.casefold() in singulars(last)) else "read"


def alternatives(found: Iterable[str]) -> tuple[str, ...]:
    """The help line for them."""
    listed = " or ".join(f"`{each}`" for each in found)
    return (f"did you mean {listed}?",) if listed else ()
