"""What an action that is none was meant to be: `get rooms`, `booking.lapse`, `booking closed`, `lapse`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ninefold.diagnostics.frozen import dataclass
from ninefold.resolve.reading import Reading
from ninefold.resolve.written import singulars
from ninefold.vocabulary.endpoints import VERBS
from ninefold.vocabulary.verbs import ALL, ALONE, OF_ALL

_READ_OR_LIST = ("get", "show", "fetch", "view", "find", "retrieve", "return", "select", "load", "see")
"""What others call both: which one it is, the path and the other keys of the endpoint tell."""

_VERBS = {
    **dict.fromkeys(_READ_OR_LIST, "read"),
    **dict.fromkeys(("add", "insert", "new", "make", "post", "register", "store", "save"), "create"),
    **dict.fromkeys(("search", "index", "query", "browse"), "list"),
    **dict.fromkeys(("edit", "modify", "change", "patch", "set"), "update"),
    **dict.fromkeys(("put", "overwrite"), "replace"),
    **dict.fromkeys(("destroy", "drop", "erase"), "delete"),
    **dict.fromkeys(("upsert",), "ensure"),
    **dict.fromkeys(("login", "log in", "signin", "authenticate"), "sign in"),
    **dict.fromkeys(("logout", "log out", "signout", "log off"), "sign out"),
}
"""What others call the verbs."""

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
        return tuple(each for each in self.verbs if each not in ALONE and each != "call")


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
    return verb in OF_ALL or verb not in by.verbs


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
    if folded in VERBS or any(form in _VERBS for form in _forms(folded)):
        return ()  # a verb that is not for everyone: `read` is no cause of an event
    near = r.nearest(word, names)
    return () if near is None else (near,)


def _called(by: Actor, word: str) -> tuple[str, ...]:
    """The verbs that others call so, in any form of the word."""
    found = next((form for form in _forms(word.casefold()) if form in _VERBS), None)
    if found is None or _VERBS[found] not in by.verbs:
        return ()
    return ("read", "list") if found in _READ_OR_LIST else (_VERBS[found],)


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
