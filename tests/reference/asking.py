"""A request under way: what the service remembers of all before it, what is known of this one, and what may be read
for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from tests.reference import calls, chosen
from tests.reference.expressions import Chance, Reading, all_rows, at_hand
from tests.reference.failures import Failure
from tests.reference.messages import Request, Response
from tests.reference.patches import Edited
from tests.reference.rows import Row, Rows

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.service import Checked

ANYONE = "anyone"

LOG = "event"
"""The resource whose rows are the events."""

ABOUT = "$about"
"""Of an event: the row that it is about, as it was."""


@dataclass(frozen=True)
class Caller:
    who: str = ANYONE
    row: Row | None = None
    names: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A request that came with an idempotency key, and its response; `until` when."""

    request: tuple[str, bytes, list[str | None]]
    response: Response
    until: datetime


@dataclass
class Memory:
    """`cursors`: what each cursor that was given stands for. `kept`: what was done under idempotency keys, by caller,
    endpoint and key (meaning "idempotency keys"). Of an older version, `becomes`: what is shown of what clients give
    for a field; `version` is its name, which `version_parameter` gives. `functions`: the operator's."""

    checked: Checked
    rows: Rows = field(default_factory=Rows)
    cursors: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    kept: dict[tuple[Any, ...], Kept] = field(default_factory=dict)
    becomes: Mapping[tuple[str, str], Callable[[Any], Any]] = field(default_factory=dict)
    version: str | None = None
    version_parameter: str | None = None
    functions: Mapping[str, calls.Function] = field(default_factory=dict)
    counted: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """When requests were counted, in microseconds, by the rate and the key that it counts by."""
    media_type_parameter: str | None = None
    """That which says the version, where one does."""

    @property
    def produces(self) -> str | None:
        """The media type of what is shown, with its version."""
        if self.checked.produces is None or self.media_type_parameter is None:
            return self.checked.produces
        return f"{self.checked.produces.partition(';')[0]}; {self.media_type_parameter}={self.version}"


def parameters_of(query: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in query.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            found.setdefault(_decoded(name), []).append(_decoded(value))
    return found


def _decoded(text: str) -> str:
    return unquote(text.replace("+", " "))


class Asking:
    """One request. `failures`: what could refuse it."""

    def __init__(
        self,
        of: Memory,
        request: Request,
        now: str,
        chance: Chance,
        sent: str | None,
        besides: Sequence[Failure],
    ) -> None:
        self.sent, self.besides = sent or request.target, besides
        self.of, self.checked, self.request, self.chance, self.now = of, of.checked, request, chance, now
        self.rows = of.rows
        self.path, _, query = request.target.partition("?")
        self.query = parameters_of(query)
        self.failures: list[Failure] = []
        self.caller = Caller()
        self.stranger: Caller | None = None
        """Whose credential is good, and who is none of those whom the endpoint admits."""
        self.rates: list[Any] = []
        """How the rates stand that count the request."""
        self.is_limited = False
        """The answer is `too many requests`."""
        self.names: dict[str, Any] = {"now": now, "caller": {}, "request": {"path": {}, "query": {}, "headers": {}}}
        self.endpoint: Endpoint | None = None
        self.chosen = chosen.NOTHING
        self.path_fits = True
        self.misread = False
        """A parameter, a header or a declared value of the path is refused."""
        self.admission: Admission | None = None
        self.edited: Edited | None = None
        """What a JSON Patch makes of the row."""
        self.asked_for: Any = None
        """The body of a request for a token."""
        self.told_of: Row | None = None
        """The row that the details of errors read."""

    def all(self) -> Reading:
        """For the contract's own authority: every row there is."""
        return Reading(self.checked.resources, self.rows, self.names, all_rows, self.chance)

    def seen(self) -> Reading:
        """For what the caller gets to know: the rows that it sees and that are not gone."""
        return replace(self.all(), sees=lambda row: self.is_seen(row) and not row.is_gone)

    def is_seen(self, row: Row) -> bool:
        """The row rules of part 5."""
        if row.resource.log:
            about = row.fields[ABOUT]
            now = self.rows.find(about.resource.name, about.key)
            if not self.is_seen(about) or (now is not None and not self.is_seen(now)):
                return False
        rules = self.checked.row_rules.get(row.resource.name, {})
        if self.caller.who not in rules:
            return False
        rule = rules[self.caller.who]
        return rule is None or self.all().also(**{row.resource.name: at_hand(row)}).holds(rule)
