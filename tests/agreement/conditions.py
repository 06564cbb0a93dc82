"""Random conditions of CEL over the resources of a random contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What the generator knows of a field."""

    type: str
    nullable: bool
    computed: bool = False
    given: bool = True
    """Whether a body may give it."""


@dataclass
class Made:
    """A resource under way."""

    name: str
    primary_key: list[str]
    fields: dict[str, Any]
    kinds: dict[str, Kind]
    required: list[str]
    more: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] | None = None
    references: dict[str, str] = field(default_factory=dict)
    backs: dict[str, str] = field(default_factory=dict)


class Conditions:
    """Conditions over the rows of `made`, which grows while a contract is made. `callers`: some are known."""

    def __init__(self, random: Random, made: Mapping[str, Made]) -> None:
        self.random, self.made, self.callers = random, made, False

    def often(self, chance: float) -> bool:
        return self.random.random() < chance

    def condition(self, made: Made, at: str, beyond: bool = True, depth: int = 0) -> str:
        """A condition over the row that goes by the name `at`. `beyond`: other rows and the caller take part."""
        match self.random.randint(0, 9 if depth < 2 else 4):
            case 5 | 6:
                left, right = (self.condition(made, at, beyond, depth + 1) for _ in range(2))
                return f"({left} {self.random.choice(['&&', '||'])} {right})"
            case 7:
                return f"!({self.condition(made, at, beyond, depth + 1)})"
            case 8 if beyond:
                return self._of_caller(made, at) if self.callers else self.atom(made, at)
            case 9 if beyond:
                return self._of_others(made, at, depth)
            case _:
                return self.atom(made, at)

    def _of_caller(self, made: Made, at: str) -> str:
        if made.name == "user" and self.often(0.6):
            return f"{at} == caller.user"
        if "owner" in made.references and self.often(0.7):
            return f"{at}.owner == caller.user"
        return self.random.choice(["caller.user.level > 2", "caller.user.name == 'Bob'", "has(caller.user)"])

    def _of_others(self, made: Made, at: str, depth: int) -> str:
        choices: list[Callable[[], str]] = []
        for name, target in made.references.items():
            choices.append(partial(self.atom, self.made[target], f"{at}.{name}"))
            choices.append(partial(str, f"has({at}.{name})"))
        for back, other in made.backs.items():
            choices.append(partial(self._over, f"{at}.{back}", self.made[other]))
            choices.append(partial(str, f"{at}.{back}.size() {self.random.choice(['>', '==', '<'])} 1"))
            choices.append(partial(self.atom, self.made[other], f"{at}.{back}.first()"))
        if depth == 0 and self.often(0.3):
            choices.append(partial(str, f"all(user).size() > {self.random.randint(1, 3)}"))
        return self.random.choice(choices)() if choices else self.atom(made, at)

    def _over(self, rows: str, of: Made) -> str:
        macro = self.random.choice(["exists", "all", "exists_one"])
        return f"{rows}.{macro}(x, {self.condition(of, 'x', beyond=False, depth=2)})"

    def atom(self, made: Made, at: str) -> str:
        names = [name for name, kind in made.kinds.items() if kind.type != "reference" and not kind.computed]
        if not names:
            return f"has({at}.{made.primary_key[0]})"
        name = self.random.choice(names)
        read, pick = f"{at}.{name}", self.random.choice
        match made.kinds[name].type:
            case "integer":
                return pick([f"{read} {pick(['<', '>=', '==', '!='])} {pick([0, 1, 3, 7])}", f"{read} % 2 == 0"])
            case "number":
                return f"{read} {pick(['<', '>='])} {pick(['0.5', '2.0'])}"
            case "string":
                return pick(
                    [
                        f"{read} < 'b'",
                        f"{read} == 'ab'",
                        f"{read}.contains('a')",
                        f"size({read}) > 1",
                        f"{read}.startsWith('B')",
                        f"has({read})",
                        f"{read} + 'x' != 'ax'",
                    ]
                )
            case "boolean":
                return pick([read, f"!{read}", f"{read} == true"])
            case "date-time":
                return pick([f"{read} < now", f"now - {read} > duration('PT1H')", f"{read}.getFullYear() == 2026"])
            case "choice":
                return pick([f"{read} == 'red'", f"{read} in ['green', 'live', 'draft']", f"{read} != 'done'"])
            case "strings":
                first = [f"{read}[0] == 'a'", f"{read}.first() == 'a'", f"({read} + ['b']).first() == 'b'"]
                return pick([f"'a' in {read}", f"{read}.exists(w, w < 'b')", f"{read}.size() > 0", *first])
            case "integers":
                return pick([f"3 in {read}", f"{read}.all(w, w > 1)", f"{read}.sum() > 3", f"({read} + [2]).sum() > 3"])
            case _:
                return pick([f"{read}.w > 1", f"{read}.h == 1.5"])
