"""Which rows an expression over one row depends on besides that row, and by which way they belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import computed_of, parts
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import All, Call, Comprehension, MakeArray, Select, Typed, Variable
from ninefold.values import Row


@dataclass(frozen=True, slots=True)
class Step:
    """From a row of `resource` on: through its reference `name`, or to the rows that refer back to it by their
    field `name`. `to` is their resource."""

    kind: Literal["field", "back"]
    resource: str
    name: str
    to: str


Way: TypeAlias = tuple[Step, ...] | None
"""From the row to others; None: all rows of their resource, whichever row it is."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """The expression reads these fields of the rows of `resource` that `way` leads to. Where it ends in a step `back`,
    or is None, it depends on which rows these are, too."""

    resource: str
    way: Way
    fields: frozenset[str]

    @property
    def of_which_rows(self) -> bool:
        return self.way is None or (bool(self.way) and self.way[-1].kind == "back")


def dependencies(typed: Typed, resource: str, model: Model) -> tuple[Dependency, ...]:
    """Those of an expression over a row of `resource`, which goes by its resource's name. The row itself is among them,
    with the way `()`, as far as it is read."""
    reading = _Reading(model)
    reading.rows(typed, {resource: frozenset({(resource, ())})})
    return tuple(Dependency(of, way, frozenset(fields)) for (of, way), fields in reading.read.items())


_Rows: TypeAlias = frozenset[tuple[str, Way]]
_NONE: _Rows = frozenset()

MOST_STEPS = 12
"""Steps of a way that is followed; what is further away is any row."""


class _Reading:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.read: dict[tuple[str, Way], set[str]] = {}
        self._inside: list[tuple[str, str]] = []

    def rows(self, typed: Typed, scope: Mapping[str, _Rows]) -> _Rows:
        """Notes what an expression reads, and gives the rows that its value is, or holds."""
        match typed:
            case Variable(name=name):
                return scope.get(name, _NONE)
            case All(resource=resource):
                self._note(resource, None)
                return frozenset({(resource, None)})
            case Select(operand=operand) if isinstance(operand.type, Row):
                found = self.rows(operand, scope)
                return frozenset().union(*(self._of_row(typed, resource, way) for resource, way in found))
            case Comprehension(range=range_, variable=variable, body=body, condition=condition):
                items = self.rows(range_, scope)
                inner = {**scope, variable: items}
                if condition is not None:
                    self.rows(condition, inner)
                made = self.rows(body, inner)
                return items if typed.macro in ("filter", "sortBy") else made if typed.macro in _MAPS else _NONE
            case Call(function=function, arguments=arguments):
                several = [self.rows(each, scope) for each in arguments]
                if function == "?:":
                    return several[1] | several[2]
                return several[0] if function in _KEEPING and several else _NONE
            case MakeArray(items=members):
                return frozenset().union(*(self.rows(each, scope) for each in members))
            case _:
                for part in parts(typed):
                    self.rows(part, scope)
                return _NONE

    def _of_row(self, select: Select, resource: str, way: Way) -> _Rows:
        """A field of a row, or the rows that refer back to it."""
        match select.through:
            case "back":
                child, referring = self.model[resource].back[select.name]
                further = self._further(way, Step("back", resource, referring, child))
                self._note(child, further, referring)
                return frozenset({(child, further)})
            case "computed":
                computed = computed_of(select, self.model)
                if computed is None or (resource, select.name) in self._inside:
                    return _NONE
                self._inside.append((resource, select.name))
                found = self.rows(computed[1], {computed[0]: frozenset({(resource, way)})})
                self._inside.pop()
                return found
            case _:
                self._note(resource, way, select.name)
                if not isinstance(select.type, Row):
                    return _NONE
                target = select.type.resource
                return frozenset({(target, self._further(way, Step("field", resource, select.name, target)))})

    def _further(self, way: Way, step: Step) -> Way:
        return None if way is None or len(way) >= MOST_STEPS else (*way, step)

    def _note(self, resource: str, way: Way, *fields: str) -> None:
        self.read.setdefault((resource, way), set()).update(fields)


_MAPS = ("map", "flatMap")
_KEEPING = ("distinct", "sort", "reverse", "[]", "narrow")
