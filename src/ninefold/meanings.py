"""The fixed meanings of the language: the same in every service, because no contract could say them in two ways."""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.pages import sections


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row of the table; `text` is Markdown."""

    number: int
    about: str
    text: str


def meanings() -> tuple[Meaning, ...]:
    """The table, as meanings.md beside this file has it: numbers never change, and a new meaning goes to the end."""
    found = sections("meanings.md").values()
    return tuple(Meaning(int(each.name), each.title, " ".join(each.text.split())) for each in found)


SIGNED, PASSWORDS, CHALLENGES, CASES, ENDED, CHOSEN = 39, 46, 47, 57, 62, 65
FORMS, GRANTED, GRANTS, BESIDE_FIELDS, PATHS = 67, 68, 69, 71, 72
"""The numbers of some: tokens that somebody else signs, passwords, challenges, cases, credentials that end, what a
request chooses, forms as bodies, the scopes of issued credentials, tokens that are granted, members that are no fields,
values in paths."""
