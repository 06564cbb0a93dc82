"""The keys of `then`: other rows that change in the same transaction, under an endpoint and under a transition."""

from __future__ import annotations

from ninefold.language.key import Key, adds, names
from ninefold.language.shapes import Expression, ListOf, MappingOf, Members, Name


def effects(part: int, path: str) -> tuple[Key, ...]:
    """What `path` lists is done one after another."""
    at = f"{path}.EFFECT"
    return (
        adds(part, path, ListOf(Members()), "Other rows that change in the same transaction, in this order.",
             "No other row changes."),
        adds(part, at, Members(), "Rows that are created, updated or deleted, or take a transition.",
             "No other row changes."),
        names(part, f"{at}.create", Name("a resource"), "A row of it is created, or one for `each` item.",
              "It creates nothing."),
        names(part, f"{at}.update", Name("a resource"), "A row of it is updated.", "It updates nothing."),
        names(part, f"{at}.delete", Name("a resource"), "A row of it is deleted.", "It deletes nothing."),
        names(part, f"{at}.take", Name("a transition with its resource: `place order`"), "A row takes a transition.",
              "It takes no transition."),
        names(part, f"{at}.row", Expression(),
              "The row that is updated, deleted or takes the transition; where it has no value, nothing happens.",
              "An effect on a row that is there is an error."),
        names(part, f"{at}.where", Expression(),
              "All rows of which it holds are updated, deleted or take the transition; `this` is the row acted on.",
              "An effect on rows that are there names one by `row`."),
        adds(part, f"{at}.each", Expression(),
             "A row is created for each item of this array; the item is `each`.", "One row is created."),
        adds(part, f"{at}.sets", MappingOf("fields to expressions"), "Values that it gives.",
             "It gives no values of its own."),
        adds(part, f"{at}.sets.FIELD", Expression(), "The value that it gives the field.",
             "It gives no value of its own."),
    )  # fmt: skip
