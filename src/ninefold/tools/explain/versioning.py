"""Part 9: versioning."""

from __future__ import annotations

from ninefold.language.fact import value_of
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import named, told


def asked(g: Grounds) -> list[Item]:
    """How a request says which version it wants, and which there are."""
    facts = g.contract.versioning
    versions = value_of(facts.versions)
    items = told(g, facts, "location", "parameter", "default", *(() if versions else ("versions",)))
    return items + [
        named(g, each, "the version `{}`" + (", the newest" if number == 0 else ""))
        for number, each in enumerate(versions or ())
    ]


def part(g: Grounds) -> list[Item]:
    facts = g.contract.versioning
    return asked(g) + (told(g, facts, "compatible") if facts.compatible is not facts.location else [])
