"""What makes no sense alone: with which others of the differences it is made, so that it alone is what differs then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ninefold.diff.changes import Change
from ninefold.syntax.nodes import Document, Entry, Mapping, scalars

_WORD: Final = re.compile(r"\w+")

MOST: Final = 3
"""Others that are tried one by one."""


def companions(group: Sequence[Change], groups: Iterable[Sequence[Change]]) -> Iterator[tuple[Change, ...]]:
    """Those beside which a difference may be made: all that name what it is about, then one of them after another; then
    what it names itself, with what that names, and these together. What part 9 says is of older versions."""
    about = _about(group)
    others = [each for each in groups if each[0] is not group[0] and each[0].part != 9]
    kin = [each for each in others if about & {*_words(each)}]
    if len(kin) > 1:
        yield _all_of(kin)
    yield from (tuple(each) for each in sorted(kin, key=lambda each: about != _about(each))[:MOST])
    named = _named(group, others)
    if named:
        yield _all_of(named)
        yield _all_of([each for each in others if each in kin or each in named])


def _named(group: Sequence[Change], others: Sequence[Sequence[Change]]) -> list[Sequence[Change]]:
    """Those that are about what a difference names, and about what they name."""
    found, left, words = list[Sequence[Change]](), list(others), {*_words(group)}
    while more := [each for each in left if _about(each) & words]:
        found += more
        left = [each for each in left if each not in more]
        words |= {word for each in more for word in _words(each)}
    return found


def _all_of(groups: Iterable[Sequence[Change]]) -> tuple[Change, ...]:
    return tuple(change for each in groups for change in each)


def _about(group: Sequence[Change]) -> set[str]:
    first = group[0]
    return {first.names[-1], *(first.called or ())}


def _words(group: Sequence[Change]) -> Iterator[str]:
    for each in group:
        yield from each.names
        for one in (one for place in (each.old, each.new) for one in scalars(None if place is None else place.node)):
            yield one.text
            yield from _WORD.findall(one.text)


def newest_alone(document: Document) -> Document:
    """The document without the changes that lead to older versions, which are then there and not served."""
    part = document.part("versioning")
    versions = part.facts.get("versions")
    if versions is None or not isinstance(versions.value, Mapping):
        return document
    listed = replace(versions.value, entries=tuple(map(_without_changes, versions.value.entries)))
    entries = tuple(replace(each, value=listed) if each is versions else each for each in part.facts.entries)
    own = replace(part, facts=replace(part.facts, entries=entries))
    return replace(document, parts=(*document.parts[:-1], own))


def _without_changes(entry: Entry) -> Entry:
    if not isinstance(entry.value, Mapping):
        return entry
    left = tuple(each for each in entry.value.entries if each.name != "changes")
    return replace(entry, value=replace(entry.value, entries=left))
