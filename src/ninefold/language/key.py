"""A key of the language: what it asks for, what its value looks like, and what its absence costs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.language.shapes import Shape, describe


class Kind(Enum):
    """What happens where a key is absent.

    `asked`: a question asks for it, and absence is a gap. `asked when`: it is while something is so (`Key.when`), and
    adds to it else. `falls back`: another line holds (`Key.line`),
    and without that one it is asked. `restricts`: it narrows what is accepted, how often or
    when, and the restriction is not there. `adds`: the member, header, filter, code or event is not there.
    `names`: others refer to it, and each use is an error. `tells`: nothing that a caller sees.
    """

    ASKED = "asked"
    ASKED_WHEN = "asked when"
    FALLS_BACK = "falls back to"
    RESTRICTS = "restricts"
    ADDS = "adds"
    NAMES = "names"
    TELLS = "tells"


Side: TypeAlias = Literal["takes", "gives", "tells", "moves", "guards", "runs", "used"]
"""Where what a key says is felt: in what callers send, in what they read, in what receivers of events read, in what
becomes of rows, by who may and which rows, by who runs the service; or wherever it is used. What more and less mean on
each is the table of `ninefold.diff.verdicts`."""

Order: TypeAlias = Literal["more", "less", "sequence", "steps", "words", "condition", "choice", "all", "other"]
"""Which of two values of a key admits more: the larger, the smaller, neither (the order of its items counts: of a
`sequence` as of one value, of `steps` beside what each says), the later word of its closed list, the condition that
holds of more; neither, where absence is all that may be listed (`all`); or neither: each gives in other portions what
the others give (`choice`), or something else, as absence does (`other`)."""


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table.

    `part` counts from 1. `path` runs from the part's own mapping, its segments joined by `.`; a segment in
    capitals stands for any name (`RESOURCE.fields.FIELD.on create`), or for an item of a list
    (`ENDPOINT.check.that`). `question` is the id of the question that asks for it
    (`ninefold.contract.questions`);
    `absence` says what the absence costs, `meaning` what the key says. `when`: of `asked when`, what has to be so.
    `line`: of `falls back`, the part and the path of the line that holds instead. `says_none`: of what is asked,
    or falls back to another line, whether `none` is an answer (there is none of it); of all else `none` is what absence
    is, and its key may be left unread (where a warning asks whether the absence is meant, `none` answers that).

    By these and the kind `diff` judges what another contract says in its place: `side`, that of what it stands in where
    it says none; `order` of its values, and which `amount` of it there is where it is absent; `promise`: the word of
    part 9 that lets one more of it be there (one of `language.versioning.COMPATIBLE_CHANGES`). Of what adds, and has
    none, nobody has said that it takes nothing away.
    """

    part: int
    path: str
    kind: Kind
    shape: Shape
    meaning: str
    absence: str
    question: str | None = None
    when: str | None = None
    line: tuple[int, str] | None = None
    says_none: bool = False
    side: Side | None = None
    order: Order | None = None
    promise: str | None = None
    amount: int | None = None

    def at(self, part: int, path: str) -> Key:
        """The same key where it stands elsewhere; a thousand rows are placed whenever the program starts."""
        own = (self.kind, self.shape, self.meaning, self.absence, self.question, self.when, self.line, self.says_none)
        return Key(part, path, *own, self.side, self.order, self.promise, self.amount)

    @property
    def none_is_absence(self) -> bool:
        """Whether `none` says what leaving the key out does."""
        return self.admits_none and not self.says_none

    @property
    def admits_none(self) -> bool:
        """Whether `none` may stand for its value: what is asked for needs an answer, and where another line holds in
        its place, nobody could tell whether that line is meant."""
        return self.says_none or not (self.is_asked or self.kind is Kind.FALLS_BACK)

    @property
    def advice(self) -> str:
        """What may be written, where something is that cannot be."""
        if not self.admits_none and not self.is_asked and self.line is not None:
            return f"leave it out, and `{self.line[1]}` of part {self.line[0]} holds"
        return f"write {describe(self.shape)}; or {'`none` or ' if self.admits_none else ''}`not shown`"

    @property
    def narrows(self) -> bool:
        """Whether what is asked of callers, or of rows, is narrowed by its value."""
        return self.kind is Kind.RESTRICTS or self.order == "condition"

    @property
    def is_asked(self) -> bool:
        """Whether a question asks for it, always or sometimes."""
        return self.question is not None

    @property
    def kind_in_words(self) -> str:
        """The kind with what it hangs on: `asked when E updates`, "falls back to `pages` of part 8"."""
        match self.kind, self.line:
            case Kind.ASKED_WHEN, _:
                return f"{self.kind.value} {self.when}"
            case Kind.FALLS_BACK, (part, path):
                return f"{self.kind.value} `{path}` of part {part}"
        return self.kind.value

    @property
    def name(self) -> str:
        """The last segment: the key as it is written, or the placeholder."""
        return self.path.rpartition(".")[2]

    @property
    def parent(self) -> str:
        """The path of the mapping that holds the key; `""` is the part itself."""
        return self.path.rpartition(".")[0]

    @property
    def is_placeholder(self) -> bool:
        """Whether the last segment stands for any name."""
        return self.name.isupper() or self.name == "*"


KeysUnder: TypeAlias = Callable[[int, str], tuple[Key, ...]]
"""From a part and a path to the keys of the mapping there, in the table's order."""


# The rows of a part's file read as a table: one call a row.


def asked(
    part: int, path: str, shape: Shape, question: str, meaning: str, absence: str, *, says_none: bool = False
) -> Key:
    return Key(part, path, Kind.ASKED, shape, meaning, absence, question, says_none=says_none)


def asked_when(
    part: int,
    path: str,
    shape: Shape,
    question: str,
    when: str,
    meaning: str,
    absence: str,
    *,
    says_none: bool = False,
) -> Key:
    return Key(part, path, Kind.ASKED_WHEN, shape, meaning, absence, question, when, says_none=says_none)


def falling_back(key: Key, part: int, path: str, *, says_none: bool = False) -> Key:
    """The same key where it stands instead of another line, that of `path` in `part`. `says_none`: `none` says that
    there is none of it here, whatever that line says."""
    absence = f"`{path}` of part {part} holds" + ("; a gap without that." if key.question is not None else ".")
    says_none = says_none or key.says_none
    return replace(key, kind=Kind.FALLS_BACK, when=None, line=(part, path), absence=absence, says_none=says_none)


def restricts(part: int, path: str, shape: Shape, meaning: str, absence: str) -> Key:
    return Key(part, path, Kind.RESTRICTS, shape, meaning, absence)


def names(part: int, path: str, shape: Shape, meaning: str, absence: str) -> Key:
    return Key(part, path, Kind.NAMES, shape, meaning, absence)


def tells(part: int, path: str, shape: Shape, meaning: str) -> Key:
    return Key(part, path, Kind.TELLS, shape, meaning, "Nothing that a caller sees.")
