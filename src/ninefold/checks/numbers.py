"""What reads, of a row that is made, a number which `serial()` is still to give: conditions of `create`, of which
reading it is an error, and what is an error does not hold (meanings "truth" and "before and after"); and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Create
from ninefold.checked.resources import Effect, Field, Resource
from ninefold.checks.findings import Findings
from ninefold.diagnostics.codes import NEVER_BEFORE_ITS_NUMBER, NOT_OF_ITS_NUMBER
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import computed_of
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Call, Comprehension, Select, Typed, Variable, parts
from ninefold.language.verbs import kind_of


def before_their_numbers(
    endpoints: Iterable[Endpoint], resources: Mapping[str, Resource], model: Model, findings: Findings
) -> None:
    """Warns of each condition of a `create` that never holds, or only while there is no other row."""
    said = set[tuple[int, int]]()
    for endpoint in endpoints:
        resource = resources.get(endpoint.resource or "")
        number = _number(resource)
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


def of_their_numbers(
    endpoints: Iterable[Endpoint], resources: Mapping[str, Resource], model: Model, findings: Findings
) -> None:
    """Refuses each value of a row that is made which is made of its number: the number comes with the row."""
    said = set[tuple[int, int]]()
    for name, field, typed in (*_given(resources.values()), *_set(endpoints)):
        resource = resources.get(name)
        number = _number(resource)
        if resource is None or number is None or not _Reading(resource, number.name, model, False).reads(typed):
            continue
        span = findings.span(typed)
        if (span.start, span.end) not in said:
            said.add((span.start, span.end))
            own = resource.fields[field]
            on_change = any(typed is each for each in (own.on_change, *(each.value for each in own.anew)))
            first = "`on change` acts on create too: it " if on_change else ""
            findings.say(
                NOT_OF_ITS_NUMBER,
                f"`{name}.{field}` is made of `{name}.{number.name}`, which comes with the row",
                Label(span, first + "is to be there before the row is"),
                help=("what is shown may be made of the number: a `computed` field, or a member of a view",),
            )


def _number(resource: Resource | None) -> Field | None:
    return None if resource is None else next((each for each in resource.fields.values() if each.serial), None)


def _given(resources: Iterable[Resource]) -> Iterator[tuple[str, str, Typed]]:
    """What fields say of themselves, and what transitions make, whoever takes them."""
    for resource in resources:
        for field in resource.fields.values():
            for typed in (field.on_create, field.on_change, *(each.value for each in field.anew)):
                if typed is not None:
                    yield resource.name, field.name, typed
        for transition in () if resource.machine is None else resource.machine.transitions.values():
            yield from _made(transition.also)


def _set(endpoints: Iterable[Endpoint]) -> Iterator[tuple[str, str, Typed]]:
    for endpoint in endpoints:
        mutation = endpoint.mutation
        if isinstance(mutation, Create) and mutation.resource is not None:
            yield from ((mutation.resource, field, typed) for field, typed in mutation.sets)
        if mutation is not None:
            yield from _made(mutation.also)


def _made(effects: Iterable[Effect]) -> Iterator[tuple[str, str, Typed]]:
    for effect in effects:
        if kind_of(effect.verb).makes:
            yield from ((effect.resource, field, typed) for field, typed in effect.sets)


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

    def reads(self, typed: Typed) -> bool:
        """Whether it reads the number anywhere."""
        match typed:
            case Select(operand=Variable(name=name), name=field) if name == self.resource.name:
                computed = computed_of(typed, self.model) if typed.through == "computed" else None
                return field == self.number if computed is None else self.reads(computed[1])
            case _:
                return any(map(self.reads, parts(typed)))

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
