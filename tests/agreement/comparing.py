"""A contract, rows and requests, told to the service and to the interpreter; and what they answer differently."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.agreement.naming import named
from tests.agreement.service import Fate, Fields, RealService
from tests.agreement.versions import compiled, served
from tests.agreement.writing import written
from tests.reference.messages import NOTHING, Request, Response
from tests.reference.rows import Row, Rows
from tests.reference.values import broken_rules

from ninefold.checked.service import Checked
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan

OPAQUE: Final = re.compile("⟦([^⟧]*)⟧")
"""In a request: an entity tag or a cursor, as the interpreter calls it."""

UNCOMPARED: Final[Mapping[str, str]] = {
    "content-length": "the length of the content, which is compared as a value",
}
"""The headers that are not compared, and why."""


@dataclass(frozen=True)
class Asked:
    """A request, and when it comes."""

    now: str
    request: Request


@dataclass(frozen=True)
class Scenario:
    """All that is needed to repeat a disagreement."""

    contract: Mapping[str, Any]
    rows: tuple[tuple[str, Fields], ...] = ()
    requests: tuple[Asked, ...] = ()
    names: str | None = None
    """The seed of what the service's contract says by names (`naming.py`), and the interpreter's does not."""

    database: str = "sqlite"
    """Or `postgresql`: what it is served from."""

    @property
    def served(self) -> Mapping[str, Any]:
        """The contract as the service is given it."""
        return self.contract if self.names is None else named(self.names, self.contract)

    @property
    def text(self) -> str:
        return written(self.served)

    def plan(self, loaded: Loaded) -> ServicePlan:
        """What is served; `loaded` is the contract as it is written out. Raises AssertionError where it has no plan
        when it is said by names."""
        by_names = loaded if self.names is None else compiled(self.served)
        plan = by_names.plan_for(self.database)
        assert plan is not None and not has_errors(by_names.diagnostics), (
            f"by names it is no contract\n{self.text}\n{[each.message for each in by_names.diagnostics]}"
        )
        return plan

    def __str__(self) -> str:
        lines = [self.text, "# Rows"]
        lines += [f"{resource} {json.dumps(fields, ensure_ascii=False)}" for resource, fields in self.rows]
        lines.append("# Requests")
        for asked in self.requests:
            request = asked.request
            lines.append(f"{request.method} {request.target}    at {asked.now}")
            lines += [f"    {name}: {value}" for name, value in request.headers.items()]
            lines += [] if request.body is None else [f"    {request.body!r}"]
        return "\n".join(lines)


class Disagreement(AssertionError):
    """What the two answer to the last request of a scenario."""

    def __init__(self, scenario: Scenario, service: Response, interpreter: Response, what: str) -> None:
        said = "\n".join(f"{who}: {_told(each)}" for who, each in (("service", service), ("interpreter", interpreter)))
        super().__init__(f"{what}\n\n{scenario}\n\n{said}")
        self.scenario, self.what = scenario, what
        self.statuses = (service.status, interpreter.status)


def _told(response: Response) -> str:
    headers = {name: value for name, value in response.headers.items() if name not in UNCOMPARED}
    return f"{response.status} {headers} {'(empty)' if response.body is NOTHING else json.dumps(response.body)}"


@dataclass
class Pair:
    """The service and the interpreter over the same contract, rows and fate. `real` are the service's words for what
    the interpreter calls otherwise, `model` the other way round in each version."""

    checked: Checked
    plan: ServicePlan
    scenario: Scenario
    real: dict[str, str] = field(default_factory=dict)
    model: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fate = Fate()
        self.interpreter = served(self.scenario.contract, self.checked)
        self.interpreter.begin(seeded(self.checked, self.scenario.rows))
        self.service = RealService(self.plan, self.scenario.rows, self.fate)
        self.told: list[Asked] = []

    def __enter__(self) -> Pair:
        self.service.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.service.__exit__(*error)

    def tell(self, asked: Asked) -> Response:
        """The response, if both give the same; raises Disagreement."""
        self.told.append(asked)
        self.fate.now, self.fate.number = asked.now, self.fate.number + 1
        theirs = self.service.answer(self._put(asked.request, real=True))
        ours = self.interpreter.answer(self._put(asked.request, real=False), asked.now, self.fate)
        what = self._difference(theirs, ours)
        if what is not None:
            raise Disagreement(replace(self.scenario, requests=tuple(self.told)), theirs, ours, what)
        return ours

    def _put(self, request: Request, real: bool) -> Request:
        """The request in the words of one of the two. What the service has never said is nothing to both."""

        def word(match: re.Match[str]) -> str:
            if match[1] not in self.real:
                return "unheard-of"
            return self.real[match[1]] if real else match[1]

        headers = {name: OPAQUE.sub(word, value) for name, value in request.headers.items()}
        return replace(request, target=OPAQUE.sub(word, request.target), headers=headers)

    def _difference(self, theirs: Response, ours: Response) -> str | None:
        if theirs.status != ours.status:
            return f"status {theirs.status} is not {ours.status}"
        for name in sorted({*theirs.headers, *ours.headers} - UNCOMPARED.keys()):
            one, other = theirs.headers.get(name), ours.headers.get(name)
            alike = one == other if name != "etag" or one is None or other is None else self._alike(one, other)
            if not alike:
                return f"{name}: {one} is not {other}"
        if (theirs.body is NOTHING) != (ours.body is NOTHING):
            return "content, or none"
        return None if theirs.body is NOTHING else self._body(theirs.body, ours.body, "")

    def _body(self, one: Any, other: Any, at: str) -> str | None:
        match one, other:
            case dict(), dict():
                if list(one) != list(other):
                    return f"{at}: members {list(one)} are not {list(other)}"
                return next((why for name in one if (why := self._body(one[name], other[name], f"{at}/{name}"))), None)
            case list(), list():
                if len(one) != len(other):
                    return f"{at}: {len(one)} items are not {len(other)}"
                pairs = enumerate(zip(one, other, strict=True))
                return next((why for index, (a, b) in pairs if (why := self._body(a, b, f"{at}/{index}"))), None)
            case str(), str() if other.startswith(("cursor-", "event-", "stream-")):
                return None if self._alike(one, other) else f"{at}: another place in the list"
        if isinstance(one, bool) is not isinstance(other, bool) or one != other:
            return f"{at}: {one!r} is not {other!r}"
        return None

    def _alike(self, one: str, other: str) -> bool:
        """Whether what each made up stands for the same: from now on it does."""
        one, other = one.strip('"'), other.strip('"')
        return (
            self.real.setdefault(other, one) == one
            and self.model.setdefault((one, other.rpartition("|")[0]), other) == other
        )


def seeded(checked: Checked, rows: Sequence[tuple[str, Fields]]) -> Rows:
    """The rows of a scenario as the interpreter keeps them."""
    found = Rows()
    for resource, fields in rows:
        of = checked.resources[resource]
        for name, each in of.fields.items():
            value = fields.get(name)
            lacks = value is None and not each.type.nullable and each.stored
            if lacks or (value is not None and each.secret is None and any(broken_rules(each.schema, value))):
                raise KeyError(name)
        row = Row(of, {name: fields.get(name) for name, each in of.fields.items() if each.stored})
        found.touch(row)
        found.of.setdefault(resource, []).append(row)
        for each in of.fields.values():
            if each.serial:
                found.serials[resource] = max(found.serials.get(resource, 0), fields[each.name])
    return found


def compare(scenario: Scenario) -> None:
    """Tell a scenario to both. Raises Disagreement; ValueError where it is no contract that can be served."""
    loaded = compiled(scenario.contract)
    if loaded.checked is None or loaded.plan is None or has_errors(loaded.diagnostics):
        raise ValueError("not a contract")
    try:
        pair = Pair(loaded.checked, scenario.plan(loaded), scenario)
    except KeyError as error:
        raise ValueError("rows of no resource") from error
    with pair:
        for asked in scenario.requests:
            pair.tell(asked)
