"""What a part of a response can come from, and nothing else can: the contract, the table of fixed meanings, HTTP
itself, the request, stored data, what is made for it, and the operator."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from ninefold.diagnostics.place import Place


class _Cause(msgspec.Struct, frozen=True, tag_field="cause", omit_defaults=True):
    pass


class Stated(_Cause, frozen=True, tag="contract"):
    """A fact of the contract. `what` it says, in a few words that need not be there."""

    place: Place
    what: str = ""


class Fixed(_Cause, frozen=True, tag="meaning"):
    """A fixed meaning, by its name in `ninefold.language.meanings`."""

    name: str


class Http(_Cause, frozen=True, tag="http"):
    """HTTP itself, by document and section: `RFC 9110, section 8.6`."""

    section: str


class Requested(_Cause, frozen=True, tag="request"):
    """Something of the request: `the path`, `the query parameter status`, `the body`, `the header If-Match`."""

    what: str


class Stored(_Cause, frozen=True, tag="stored data"):
    """What is stored: `order.total`, `whether the row is there`."""

    what: str


class Made(_Cause, frozen=True, tag="made"):
    """A value that the service makes because a fact or a meaning says so: the time, what is random, a count."""

    what: str


class Given(_Cause, frozen=True, tag="operator"):
    """What the operator gives: `operator.NAME`, an option of the command line, or the machine itself."""

    what: str


Cause: TypeAlias = Stated | Fixed | Http | Requested | Stored | Made | Given


class Header(msgspec.Struct, frozen=True):
    """`name` in lower case. `causes`: why it is sent; `value`: what its value comes from."""

    name: str
    causes: tuple[Cause, ...]
    value: tuple[Cause, ...]


Path: TypeAlias = tuple[str | int | None, ...]
"""Where in a body: names of members, positions of an array that is written out, None for each element of a list."""


class Member(msgspec.Struct, frozen=True):
    """A member of a body, or an element of one. `causes`: why it is there, under this name; `value`: what its value
    comes from, nothing where the members below say so. `whole`: what is inside its value belongs to the value."""

    path: Path
    causes: tuple[Cause, ...]
    value: tuple[Cause, ...] = ()
    whole: bool = False


class Occurrence(msgspec.Struct, frozen=True):
    """An event that arose with the response: its kind, why it arose, and the members of its payload."""

    kind: str
    causes: tuple[Cause, ...]
    members: tuple[Member, ...]


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """What refused the request: a condition of the closed list, perhaps narrowed, and its code, if it has one.
    `causes`: the facts that the request ran into. What is wrong with a value of the request is `where` (`body`,
    `query`, `path` or `header`; `row` of what the contract gives), the name of the parameter or the JSON Pointer as far
    as the contract names it, and the rule."""

    condition: str
    subject: str | None
    code: str | None
    causes: tuple[Cause, ...]
    where: str | None = None
    pointer: str | None = None
    rule: str | None = None


class Attribution(msgspec.Struct, frozen=True):
    """Every part of one response with what caused it. `endpoint` is its key as written; None: the request reached none.
    `caller` is the kind of caller, a scheme's name or `anyone`; None: nobody was admitted. `refusals`: the first one
    counts; `more`: there were others, of which the identifier says nothing. `headers` are those that the response had;
    `members` all that its body can have, also those that were left out for having no value."""

    endpoint: str | None
    version: str | None
    caller: str | None
    status: int
    causes: tuple[Cause, ...]
    headers: tuple[Header, ...]
    members: tuple[Member, ...]
    events: tuple[Occurrence, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    more: bool = False


def places(causes: tuple[Cause, ...]) -> tuple[Place, ...]:
    """The places of the contract among some causes."""
    return tuple(each.place for each in causes if isinstance(each, Stated))
