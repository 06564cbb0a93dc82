"""Did you mean …? The nearest of the names that would have been right."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final

COMPARED: Final = 50
"""Candidates that are compared letter by letter. Of more, those with the rarest pieces in common: a contract of many
names may have as many mistakes, and each pair of them is too much."""

LONGEST: Final = 100
"""Letters of a name that is compared at all."""


_NOTHING: Final = frozenset(
    ("none", "null", "~", "nil", "n/a", "na", "-", "no", "false", "undefined", "nothing", "nobody", "no one", "noone")
) | {"never", "unlimited", "no limit", "forever", "infinite"}
"""What people write for "there is none"."""


def says_nothing(text: str) -> bool:
    """Whether a text is one of those that people write for "there is none"."""
    return " ".join(text.casefold().split()) in _NOTHING


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be, if one is near enough. What says that there is none is not
    meant to be another word, however near it is by its letters: `None` is not `anyone`."""
    if len(name) > LONGEST or says_nothing(name):
        return None
    return _nearest(name.casefold(), tuple(candidates))


@lru_cache(maxsize=1024)
def _nearest(name: str, candidates: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in candidates if len(candidate) <= LONGEST}
    among = folded if len(folded) <= COMPARED else _likely(name, tuple(folded))
    found = get_close_matches(name, among, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def _likely(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that share pieces with this one, those with the rarest pieces first."""
    found: dict[str, None] = {}
    having = _having(names)
    for shared in sorted((having[piece] for piece in _pieces(name) if piece in having), key=len):
        found |= dict.fromkeys(shared[: COMPARED - len(found)])
        if len(found) >= COMPARED:
            break
    return tuple(found)


@lru_cache(maxsize=16)
def _having(names: tuple[str, ...]) -> Mapping[str, list[str]]:
    """For each piece, the names that have it."""
    found: dict[str, list[str]] = {}
    for name in names:
        for piece in _pieces(name):
            found.setdefault(piece, []).append(name)
    return found


def _pieces(name: str) -> Iterable[str]:
    """Three letters each, the ends of the name among them; and all letters in order, which a name shares whose letters
    are turned."""
    whole = f"^{name}$"
    return dict.fromkeys([*(whole[at : at + 3] for at in range(len(whole) - 2)), f"={''.join(sorted(name))}"])


def there_are(candidates: Collection[str]) -> tuple[str, ...]:
    """The help line that tells all names that would have been right; none where they are many."""
    listed = ", ".join(f"`{each}`" for each in candidates)
    if not 0 < len(candidates) <= 12:
        return ()
    return (f"there are {listed}" if len(candidates) > 1 else f"there is {listed}",)


def did_you_mean(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The help line of a diagnostic about an unknown name: one line, or none."""
    found = nearest(name, candidates)
    return (f"did you mean `{found}`?",) if found else ()


def is_guess(help: str) -> bool:
    """Whether a line of help tells what may have been meant."""
    return help.startswith("did you mean")


def singulars(word: str) -> Iterable[str]:
    """What a word may be the plural of, itself first."""
    word = word.casefold()
    yield word
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            yield word.removesuffix(ending) + instead
