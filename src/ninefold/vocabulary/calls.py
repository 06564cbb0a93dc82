"""The keys of functions that endpoints call: what each takes, gives, and may refuse with."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.language.json_schema import keywords
from ninefold.language.key import Key, adds, asked, asked_when, names
from ninefold.language.shapes import Expression, JSONSchema, MappingOf, Members, Names

_F = "calls.FUNCTION"


def functions(part: int, question: str) -> Iterator[Key]:
    """`question` asks what an endpoint does."""
    yield names(part, "calls", Members(), "Functions that endpoints call.",
                "There are none; each use of one is an error.")  # fmt: skip
    yield names(part, _F, Members(), "A function, which the operator gives by this name.",
                "There is no such function; each use is an error.")  # fmt: skip
    yield asked(part, f"{_F}.takes", MappingOf("names to schemas"), question,
                "What it is called with, by name: each value is held to its schema.",
                "A gap: endpoints that call it are not served.", says_none=True)  # fmt: skip
    yield asked(part, f"{_F}.takes.NAME", JSONSchema(), question, "A value that it is called with, and its schema.",
                "A gap: endpoints that call it are not served.")  # fmt: skip
    yield from (each for each in keywords(part, f"{_F}.takes.NAME") if each.name != "required")
    yield asked(part, f"{_F}.gives", JSONSchema(), question,
                "What it gives, which is held to this schema, and is `result.FUNCTION`.",
                "A gap: endpoints that call it are not served.")  # fmt: skip
    yield from keywords(part, f"{_F}.gives")
    yield adds(part, f"{_F}.refuses", Names("an error code"), "The error codes with which it may refuse a request.",
               "It refuses none: where it does, that is `internal`.")  # fmt: skip


def given(part: int, endpoint: str, question: str) -> Iterator[Key]:
    yield asked_when(part, f"{endpoint}.with", MappingOf("names to expressions"), question,
              "the function takes something",
                "What the function that it calls is called with, of the request and of who calls.",
                "A gap: E is not served.")  # fmt: skip
    yield adds(part, f"{endpoint}.with.NAME", Expression(), "The value of what the function takes by that name.",
               "An error where the function takes it.")  # fmt: skip
