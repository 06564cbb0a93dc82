"""A random contract under way: the throws, and what is made of it so far."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.agreement.conditions import Conditions, Made

SCALARS: Final = ("integer", "number", "string", "boolean", "date-time", "choice")
ARRAYS: Final = ("strings", "integers")


class Maker:
    """One contract."""

    def __init__(self, random: Random, to_all: bool = False, more: bool = False) -> None:
        self.random, self.to_all, self.more = random, to_all, more
        self.steps = Random()
        self.steps.setstate(random.getstate())
        """Of what is done after the first operation. Each subject has throws of its own, which leave the others as they
        are."""
        self.choices = Random()
        self.choices.setstate(random.getstate())
        self.paths = Random(f"paths {random.getstate()}")
        self.puts = Random(f"puts {random.getstate()}")
        self.cases = Random(f"cases {random.getstate()}")
        self.wholes = Random(f"wholes {random.getstate()}")
        self.forms = Random(f"forms {random.getstate()}")
        self.effects = Random(f"effects {random.getstate()}")
        self.versions = Random(f"versions {random.getstate()}")
        self.calls = Random(f"calls {random.getstate()}")
        self.accounts = Random(f"accounts {random.getstate()}")
        self.each = Random(f"each {random.getstate()}")
        self.events = Random(f"events {random.getstate()}")
        self.origins = Random(f"origins {random.getstate()}")
        self.sights = Random(f"sights {random.getstate()}")
        self.streams = Random(f"streams {random.getstate()}")
        self.rates = Random(f"rates {random.getstate()}")
        self.basic = Random(f"basic {random.getstate()}")
        self.removes = Random(f"removes {random.getstate()}")
        self.asks = Random(f"asks {random.getstate()}")
        self.readings = Random(f"readings {random.getstate()}")
        self.normals = Random(f"normals {random.getstate()}")
        self.narrowed = Random(f"narrowed {random.getstate()}")
        self.orders = Random(f"orders {random.getstate()}")
        self.schemes: dict[str, Any] = {}
        self.made: dict[str, Made] = {}
        self.codes: dict[str, dict[str, Any]] = {}
        self.conditions = Conditions(random, self.made)
        self.condition, self.atom = self.conditions.condition, self.conditions.atom

    def often(self, chance: float) -> bool:
        return self.random.random() < chance
