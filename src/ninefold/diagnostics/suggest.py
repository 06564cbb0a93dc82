"""Did you mean …? The nearest of the names that would have been right."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be, if one is near enough."""
    folded = {candidate.casefold(): candidate for candidate in candidates}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


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
