"""What the old contract promised to those who read it: the kinds of change that part 9 calls compatible."""

from __future__ import annotations

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Shown, StatedNone, value_of


@dataclass(frozen=True, slots=True)
class Promise:
    """`words` None: nothing was promised beyond what a caller uses, and every addition counts as listed. `is_open`:
    nobody said what is compatible, and there is no verdict. `span`: where it stands."""

    words: frozenset[str] | None
    is_open: bool = False
    span: Span | None = None

    def lists(self, word: str) -> bool:
        return self.words is None or word in self.words


def promise_of(contract: Contract) -> Promise:
    part = contract.versioning
    match part.compatible:
        case Shown(words, span):
            return Promise(frozenset(each.text for each in words), span=span)
        case StatedNone(span):
            if isinstance(part.location, StatedNone):
                return Promise(None)
            return Promise(frozenset(), span=span)
        case _:
            is_open = not isinstance(part.location, StatedNone) and value_of(part.location) is not None
            return Promise(None, is_open=is_open or part.location is None)
