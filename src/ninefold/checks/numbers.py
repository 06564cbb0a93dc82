"""Conditions of `create` that read a number which `serial()` is still to give: reading it is an error, and what is an
error does not hold (meanings "truth" and "before and after")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.resources import Resource
from ninefold.checks.codes import NEVER_BEFORE_ITS_NUMBER
from ninefold.checks.findings import Findings
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import computed_of
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Call, Comprehension, Select, Typed, Variable, parts


def before_their_numbers(
    endpoints: Iterable[Endpoint], resources: Mapping[str, Resource], model: Model, findings: Findings
) -> None:
    """Warns of each condition of a `create` that never holds, or only while there is no other row."""
    said = set[tuple[int, int]]()
    for endpoint in endpoints:
        resource = resources.get(endpoint.resource or "")
        number = None if resource is None else next((each for each in resource.fields.values() if each.serial), None)
        if resource is None or number is None or endpoint.kind.row != "new":
            continue
        for typed, what in _conditions(endpoint):
            span = findings.span(typed)
            readings = {words: _Reading(resource, number.name, model, others) for words, others in _WHEN.items()}
            when = next((words for words, each in readings.items() if each.never(typed)), None)
            if when is None or (span.start, span.end) in said:
                continue
            said.add((span.start, span.end))
            findings.say(
                NEVER_BEFORE_ITS_NUMBER,
                f"{what} of `{endpoint.key}` {when}",
                Label(span, f"reads `{resource.name}.{number.name}`, which is still to come"),
                help=(f"what is asked once the row has its number is a `check` of `{resource.name}` in part 2",),
            )


_WHEN = {"never holds": False, "holds of the first row alone": True}
"""Whether there are other rows already."""


def _conditions(endpoint: Endpoint) -> Iterator[tuple[Typed, str]]:
    for guard in endpoint.operation.guards:
        yield guard.that, "a check"
    for admission in endpoint.admissions:
        if admission.condition is not None and not admission.of_request:
            yield admission.condition, f"the permission of `{admission.who}`"


@dataclass(frozen=True)
class _Reading:
    """What comes of expressions over a row of the resource whose `number` is still to come. `others`: each macro over
    rows looks at one at least."""

    resource: Resource
    number: str
    model: Model
    others: bool

    def never(self, typed: Typed) -> bool:
        """Whether it cannot be true, because it reads the number."""
        match typed:
            case Call(function="&&", arguments=arguments):
                return any(map(self.never, arguments))
            case Call(function="||", arguments=arguments):
                return all(map(self.never, arguments))
            case Call(function="?:", arguments=[condition, yes, no]):
                return self.fails(condition) or (self.never(yes) and self.never(no))
            case Comprehension(macro="exists", body=body):
                return self.never(body) or self.fails(typed)
            case Comprehension(macro="all", body=body) if self.others:
                return self.never(body) or self.fails(typed)
            case _:
                return self.fails(typed)

    def fails(self, typed: Typed) -> bool:
        """Whether it is an error, whatever else is so."""
        match typed:
            case Variable(name=name):
                return name == self.resource.name and self.number in self.resource.primary_key
            case Select(operand=Variable(name=name), name=field) if name == self.resource.name:
                if typed.through == "computed":
                    computed = computed_of(typed, self.model)
                    return computed is not None and self.fails(computed[1])
                return field == self.number
            case Call(function="&&" | "||", arguments=arguments):
                return all(map(self.fails, arguments))
            case Call(function="?:", arguments=[condition, yes, no]):
                return self.fails(condition) or (self.fails(yes) and self.fails(no))
            case Comprehension(range=range_, body=body):
                return self.fails(range_) or (self.others and self.fails(body))
            case _:
                return any(map(self.fails, parts(typed)))
