"""Where every part of one response comes from, as a page: `ninefold explain FILE --response ID`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ninefold.diagnostics.place import Place
from ninefold.pipeline import Loaded
from ninefold.tools.explain.endpoint import cited
from ninefold.tools.explain.explanation import Explanation, Item, Section, every
from ninefold.trace.causes import (
    Attribution,
    Cause,
    Fixed,
    Given,
    Header,
    Http,
    Made,
    Member,
    Path,
    Refusal,
    Requested,
    Stated,
    Stored,
)
from ninefold.values.pointers import pointer

LONGEST_LINE = 90
"""Characters of a line of the contract that are shown."""


def explain_response(loaded: Loaded, found: Attribution) -> Explanation:
    """The page of an attribution, which has to be of this contract's plan."""
    page = _Page(loaded)
    sections = [
        Section("Why the request was refused", (*page.refusals(found.refusals), *_rest(found))),
        Section("The status", (page.part(str(found.status), page.beside(found), whole=True),)),
        Section("Headers", tuple(page.header(each) for each in found.headers)),
        Section("The body", tuple(page.members(found.members))),
        Section(
            "Events",
            tuple(
                page.part(f"`{each.kind}`", each.causes, items=tuple(page.members(each.members)))
                for each in found.events
            ),
        ),
    ]
    shown = tuple(section for section in sections if section.items)
    return Explanation(
        contract=loaded.source.name,
        about=found.endpoint or "no endpoint",
        place=_place(found.causes) or Place(1, 1),
        outcome=_outcome(found),
        sections=shown,
        meanings=cited(item for section in shown for item in every(section.items)),
    )


def _outcome(found: Attribution) -> str:
    words = [f"answered {found.status}"]
    if found.caller is not None:
        words.append(f"to {'anyone' if found.caller == 'anyone' else f'a caller known by `{found.caller}`'}")
    if found.version is not None:
        words.append(f"in the version `{found.version}`")
    return " ".join(words)


def _rest(found: Attribution) -> Iterator[Item]:
    if found.more:
        yield Item("and more: the response has them all")


def _place(causes: Iterable[Cause]) -> Place | None:
    return next((Place(each.place.line, each.place.column) for each in causes if isinstance(each, Stated)), None)


class _Page:
    def __init__(self, loaded: Loaded) -> None:
        self.source = loaded.source

    def part(self, text: str, causes: tuple[Cause, ...], whole: bool = False, items: tuple[Item, ...] = ()) -> Item:
        """A part of the response with its causes: the first line in front of it, the others below. `whole`: every line
        is below, as it is written."""
        lines = list(self._lines(causes))
        here = None if whole or not lines else lines.pop(0).place
        words = "; ".join(_words(causes))
        below = (*lines, *items)
        names = tuple(dict.fromkeys(each.name for each in causes if isinstance(each, Fixed)))
        return Item(f"{text}: {words}" if words else text, here, meanings=names, items=below)

    def _lines(self, causes: tuple[Cause, ...]) -> Iterator[Item]:
        """The lines of the contract among causes, each once, as they are written."""
        told: set[int] = set()
        for each in causes:
            if isinstance(each, Stated) and each.place.line not in told:
                told.add(each.place.line)
                yield Item(self._written(each.place.line), Place(each.place.line, each.place.column))

    def _written(self, line: int) -> str:
        starts, text = self.source.line_starts, self.source.text
        end = starts[line] if line < len(starts) else len(text)
        words = " ".join(text[starts[line - 1] : end].split())
        return f"`{words if len(words) <= LONGEST_LINE else words[: LONGEST_LINE - 1] + '…'}`"

    def refusals(self, refusals: Iterable[Refusal]) -> Iterator[Item]:
        for each in refusals:
            name = f"{each.condition} {each.subject}" if each.subject else each.condition
            text = f"`{name}`"
            if each.rule is not None:
                part = f"the {each.where or 'request'}"
                unknown = f"something that no fact names in {part}" if each.rule == "unknown" else part
                place = f"`{each.pointer}` in {part}" if each.pointer else unknown
                place = "what the contract gives the row" if each.where == "row" else place
                text += f": {place} does not keep the rule `{each.rule}`"
            yield self.part(text, each.causes, whole=True)

    def beside(self, found: Attribution) -> tuple[Cause, ...]:
        """The causes of a status that are not those of the refusal, which have been told."""
        told = found.refusals[0].causes if found.refusals else ()
        return tuple(each for each in found.causes if each not in told) or found.causes

    def header(self, header: Header) -> Item:
        causes = (*header.causes, *header.value)
        return self.part(f"`{header.name}`", tuple(dict.fromkeys(causes)))

    def members(self, members: Iterable[Member]) -> Iterator[Item]:
        for each in members:
            causes = tuple(dict.fromkeys((*each.causes, *each.value)))
            if causes or each.path:
                yield self.part(f"`{_pointer(each.path)}`" if each.path else "the whole", causes)


def _pointer(path: Path) -> str:
    """A JSON Pointer (RFC 6901); `*` stands for each element of a list."""
    return pointer("*" if each is None else each for each in path)


def _words(causes: Iterable[Cause]) -> Iterator[str]:
    """What is no line of the contract and no fixed meaning, in words."""
    for each in causes:
        match each:
            case Http(section=section):
                yield section
            case Requested(what=what):
                yield f"the request: {what}"
            case Stored(what=what):
                yield f"stored data: {what}"
            case Made(what=what) | Given(what=what):
                yield f"{'made' if isinstance(each, Made) else 'the operator'}: {what}"
            case Stated() | Fixed():
                pass
