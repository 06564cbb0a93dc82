"""The verdict of one difference, from the kind of its key, the side on which it is felt, and its direction.

| side   | more                         | less                  | other    | nobody can say |
|--------|------------------------------|-----------------------|----------|----------------|
| takes  | senders: compatible (w)      | senders: breaking     | breaking | look           |
| gives  | readers: compatible (w)      | readers: breaking     | breaking | look           |
| tells  | receivers: compatible (w)    | receivers: breaking   | breaking | look           |
| moves  | readers: breaking            | readers: breaking     | breaking | look           |
| guards | owners: opens (w)            | senders: breaking     | both     | look           |
| runs   | operators: look              | operators: compatible | look     | look           |

(w): if part 9 of the old contract lists its word, else breaking; of what is taken, else to be looked at. What
*restricts* turns more into less. A schema of what is shown is the other way round: narrower values were all there
before, and of wider ones somebody has to look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, Literal, TypeAlias, get_args

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Shown, StatedNone, value_of
from ninefold.language.key import Side
from ninefold.language.table import row_at

# What the old contract promised to those who read it: the kinds of change that part 9 calls compatible.


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


Audience: TypeAlias = Literal["senders", "readers", "receivers", "operators", "owners"]
"""Who relies on a contract: callers by what they send and by what they read, receivers of events, who runs the
service, and those whose rows it keeps."""

Verdict: TypeAlias = Literal["breaking", "look", "opens", "compatible", "words"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
"""The gravest first. `look`: nobody proved either. `opens`: somebody sees or may do more than before. `words`: nothing
that the service does."""

Direction: TypeAlias = Literal["more", "less", "other", "unproved", "same"]
"""The new one admits more, or less; is neither; or nobody can say."""

WHO: Final[dict[Side, Audience]] = {
    "takes": "senders", "gives": "readers", "tells": "receivers", "moves": "readers", "guards": "senders",
    "runs": "operators", "used": "readers",
}  # fmt: skip

WORDS: Final[dict[Side, str]] = {
    "takes": "relax a restriction", "gives": "add a response member", "tells": "add an event member",
    "guards": "widen a permission",
}  # fmt: skip
"""What part 9 calls more on a side, where the key says no word of its own."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What comes of a difference for one audience. `word`: the one of part 9 that lets it be; `said`: what it is."""

    audience: Audience
    verdict: Verdict
    word: str | None = None
    said: str = ""


def effects(
    side: Side, direction: Direction, promise: Promise, word: str | None = None, said: str = ""
) -> Iterator[Effect]:
    """The table."""
    who = WHO[side]
    if direction == "same":
        return
    if direction == "unproved":
        yield Effect(who, "look", None, said)
        return
    match side, direction:
        case "runs", _:
            yield Effect(who, "compatible" if direction == "less" else "look", None, said)
        case "moves" | "used", _:
            yield Effect(who, "breaking", None, said)
        case "guards", "more" | "other":
            word = word or WORDS["guards"]
            yield Effect("owners", "opens", word, said)
            yield Effect(who, "breaking" if direction == "other" else "compatible", word, said)
        case _, "more":
            word = word or WORDS[side]
            # No request is answered worse for it: that nobody promised it is to be looked at.
            unlisted: Verdict = "look" if side == "takes" else "breaking"
            yield Effect(who, "compatible" if promise.lists(word) else unlisted, word, said)
        case _:
            yield Effect(who, "breaking", None, said)


def few(endpoints: Iterable[str]) -> str:
    """Endpoints as an effect tells of them."""
    first = list(dict.fromkeys(endpoints))
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")


def gravest(found: tuple[Effect, ...]) -> Verdict:
    return min((each.verdict for each in found), key=VERDICTS.index, default="words")


# Where what a key says is felt, and what of it part 9 may promise: told at the key, or at what holds it.

OF_PARTS: Final[tuple[Side, ...]] = (
    "runs", "used", "moves", "takes", "guards", "tells", "gives", "takes", "takes"
)  # fmt: skip
"""By part, of what neither a key nor what holds it says."""


@cache
def side_of(part: int, path: str) -> Side:
    """The side of a row of the table, or of what stands inside it without a row of its own."""
    while path:
        found = row_at(part, path)
        if found is not None and found.side is not None:
            return found.side
        path = path.rpartition(".")[0]
    return OF_PARTS[part - 1]
