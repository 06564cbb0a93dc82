"""Where a document says something as it was called once: names in expressions, and what diagnostics say of it all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.diagnostic import Diagnostic, Severity, has_errors
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.language import former
from ninefold.language.former import (
    ACTIONS,
    CONDITIONS_AT,
    KEYS,
    NARROWED_AT,
    RENAMED,
    UPON,
    WORDS,
    At,
    action,
    beside,
    cause,
    condition,
    entries_at,
    places,
    word,
)
from ninefold.syntax.nodes import PARTS, Document, Entry, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode

PAGE: Final[Mapping[str, str]] = {
    "page.count": "page.items.size()",
    "page.pages": "(page.total + page.size - 1) / page.size",
    "page.number": "page.start / page.size + 1",
}
"""Names in expressions, and what says the same. Where `first` is 0, the number of a page is one less."""

CREDENTIAL: Final = "caller.credential"
"""What says `issued.SCHEME`."""

_NAMES: Final = regex.compile(r"(?<![\w.])(?:page\.(?:count|pages|number)|issued\.(\w+))(?!\w|\()")
_TEXT: Final = regex.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")


def without_texts(text: str) -> str:
    """An expression with blanks in the place of its texts, which name nothing."""
    return _TEXT.sub(lambda found: " " * len(found[0]), text)


def issuing(document: Document) -> frozenset[str]:
    """The schemes of a document whose credentials were told as `issued.SCHEME`: a field of that name came before."""
    fields = {each.name for each in entries_at(document.part("resources").facts, "RESOURCE.fields.FIELD")}
    return frozenset(
        each.name for each in document.part("authentication").facts.under("schemes") if each.name not in fields
    )


def names_in(text: str, schemes: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Where in an expression a name stands that is gone, and what says it now."""
    for found in _NAMES.finditer(without_texts(text)):
        if found[1] is None or found[1] in schemes:
            yield found.start(), found.end(), PAGE.get(found[0], CREDENTIAL)


def scalars_of(node: Node) -> Iterator[Scalar]:
    """The scalars of a value, at every depth; keys are none."""
    match node:
        case Scalar():
            yield node
        case MappingNode():
            for entry in node.entries:
                yield from scalars_of(entry.value)
        case Sequence():
            for item in node.items:
                yield from scalars_of(item)


def named(document: Document, said: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics, of which each error that stands where something is called as it was once says what it is now;
    the first of them says as well what rewrites them all."""
    told = tuple(said)
    if not has_errors(told):
        return told
    fix = f"`ninefold fix {document.source.name}` writes all of it in the words of today"
    met, found = _Met(document), list[Diagnostic]()
    for each in told:
        help = met.at(each.span) if each.code.severity is Severity.ERROR and each.labels else None
        if help is not None:
            each = replace(each, help=(help, fix) if fix else (help,))
            fix = ""
        found.append(each)
    return tuple(found)


class _Met:
    """What a document has that is called otherwise now. `keys`: by the places of the keys, and of what holds them where
    it is no mapping any more; `words`: by those of whole scalars."""

    def __init__(self, document: Document) -> None:
        self.keys: dict[Span, str] = {}
        self.words: dict[Span, str] = {}
        self._facts = {number: document.part(name).facts for number, name in enumerate(PARTS, 1)}
        for at, now in KEYS.items():
            if not former.stays(at):
                self._key(at, now)
        for at in WORDS:
            self._each_word(at, word(*at))
        for at in ACTIONS:
            self._each_word(at, cause if at == UPON else action)
        for at in CONDITIONS_AT:
            self._each_word(at, condition)
        self._names(document)
        for at in NARROWED_AT:
            for entry in self._entries(at):
                for each in entry.value.entries if isinstance(entry.value, MappingNode) else ():
                    self._word(each.key, condition(each.name))

    def at(self, span: Span) -> str | None:
        """What says now what stands at a place, or around it."""
        if (of_key := self.keys.get(span)) is not None:
            return of_key
        around = (said for word, said in self.words.items() if word.start <= span.start and span.end <= word.end)
        return next(around, None)

    def _names(self, document: Document) -> None:
        schemes = issuing(document)
        for part in document.parts[1:]:
            for scalar in scalars_of(part.facts):
                for start, end, now in names_in(scalar.text, schemes):
                    self.words[scalar.part(start, end)] = f"`{scalar.text[start:end]}` is now `{now}`"

    def _entries(self, at: At) -> Iterator[Entry]:
        for part, path in places(at):
            now = {each: word for (of, each), word in RENAMED.items() if of == part}
            yield from entries_at(self._facts[part], path, now)

    def _key(self, at: At, now: str) -> None:
        parent, _, word = at[1].rpartition(".")
        written = (entry for entry in self._entries(at) if word.isupper() or entry.name == word)
        keys = {entry.key.span: f"`{entry.name}` is now {now}" for entry in written}
        self.keys.update(keys)
        for holder in self._entries((at[0], parent)) if keys and parent else ():
            for each in holder.value.entries if isinstance(holder.value, MappingNode) else ():
                if each.key.span in keys:
                    self.keys.setdefault(holder.value.span, keys[each.key.span])

    def _each_word(self, at: At, now: Callable[[str], str]) -> None:
        for entry in self._entries(at):
            for item in entry.value.items if isinstance(entry.value, Sequence) else (entry.value,):
                if isinstance(item, Scalar):
                    self._word(item, now(item.text), beside(item.text) if now is action else None)

    def _word(self, scalar: Scalar, now: str, beside: tuple[str, str] | None = None) -> None:
        if now != scalar.text:
            also = "" if beside is None else f", beside `{': '.join(beside)}`"
            self.words[scalar.span] = f"`{scalar.text}` is now `{now}`{also}"
