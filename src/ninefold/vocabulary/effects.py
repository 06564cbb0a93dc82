"""The keys of `then`: other rows that change in the same transaction, under an endpoint and under a transition."""

from __future__ import annotations

from ninefold.vocabulary.key import Key, adds, names
from ninefold.vocabulary.shapes import Expression, ListOf, MappingOf, Members, Name


def effects(part: int, path: str) -> tuple[Key, ...]:
    """What `path` lists is done one after another."""
    at = f"{path}.EFFECT"
    return (
        adds(part, path, ListOf(Members()), "Other rows that change in the same transaction, in this order.",
             "No other row changes."),
        adds(part, at, Members(), "A row that is created, updated or deleted, or takes a transition.",
             "No other row changes."),
        names(part, f"{at}.create", Name("a resource"), "A row of it is created.", "It creates nothing."),
        names(part, f"{at}.update", Name("a resource"), "A row of it is updated.", "It updates nothing."),
        names(part, f"{at}.delete", Name("a resource"), "A row of it is deleted.", "It deletes nothing."),
        names(part, f"{at}.take", Name("a transition with its resource: `place order`"), "A row takes a transition.",
              "It takes no transition."),
        names(part, f"{at}.row", Expression(),
              "The row that is updated, deleted or takes the transition; where it has no value, nothing happens.",
              "An effect on a row that is there is an error."),
        adds(part, f"{at}.sets", MappingOf("fields to expressions"), "Values that it gives.",
             "It gives no values of its own."),
        adds(part, f"{at}.sets.FIELD", Expression(), "The value that it gives the field.",
             "It gives no value of its own."),
    )  # fmt: skip
