"""What is to be proposed, before it has a place in a text: a tree of keys whose leaves each have a source, which stands
in the comment beside the proposal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass

UUID = "RFC 9562: UUIDs, which the service makes"
JSON = "RFC 8259: JSON"
STRICT = "RFC 9413: what nobody specified is refused, not tolerated"
MERGE = "RFC 7396: JSON merge patch"
NEWEST_FIRST = "newest first, as GitHub and Stripe list"
BY_IDENTIFIER = "by primary key: an order in which no row moves"
DELETED = "RFC 9110, section 9.3.5: done, and nothing to show"
CREATED = "RFC 9110, section 15.3.2: 201 and the row"
CREATED_THERE = "RFC 9110, section 9.3.3: 201, the row, and where it is"
SHOWN = "RFC 9110, section 15.3.1: 200 and the row"
LISTED = "RFC 9110, section 15.3.1: 200 and the page"
TOKEN = "RFC 6749, section 5.1: an access token"
STATELESS = "no field is a state, and no endpoint moves one"
REFERENTIAL = "SQL (ISO/IEC 9075-2): where nothing is said, the deletion is refused"
HIDDEN = "RFC 9110, section 15.5.4: 404 hides what is there"
PAGED = "20, and at most 100, as GitLab; `limit` and `cursor` as Slack"
WEBHOOKS = "Standard Webhooks 1.0, with the retries that it gives as an example"
CLOUD_EVENTS = "CloudEvents 1.0"
EVENT_STREAM = "HTML, section 9.2: server-sent events"
PROBLEM = "RFC 9457: problem details"
CODED = "RFC 9110, section 15, and RFC 6585"
RATE_HEADERS = "draft-ietf-httpapi-ratelimit-headers; RFC 9110, section 10.2.3: Retry-After"
ADDING = "AIP-180: adding is compatible"


Value: TypeAlias = "str | tuple[tuple[str, Value], ...]"
"""YAML on one line, or members that stand below one another."""

TAG = "!proposed"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A fact that could stand at a path of a part. `source` is who recommends it, in a few words on one line.
    `first`: it belongs before the keys that are there."""

    part: int
    path: tuple[str, ...]
    value: Value
    source: str
    first: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    value: Value
    source: str
    first: bool = False


Tree: TypeAlias = "Leaf | Branch"
Branch: TypeAlias = Mapping[str, "Tree"]


def trees(facts: Iterable[Proposed]) -> dict[int, dict[str, Tree]]:
    """The facts of each part as one tree; of two at the same place the first counts."""
    parts: dict[int, dict[str, Tree]] = {}
    for fact in facts:
        level = parts.setdefault(fact.part, {})
        for name in fact.path[:-1]:
            below = level.setdefault(name, {})
            if isinstance(below, Leaf):
                break
            assert isinstance(below, dict)
            level = below
        else:
            level.setdefault(fact.path[-1], Leaf(fact.value, fact.source, fact.first))
    return parts


def sources(tree: Tree) -> tuple[str, ...]:
    """Each source once, in written order."""
    return tuple(dict.fromkeys(_sources(tree)))


def _sources(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Leaf):
        yield tree.source
    else:
        for below in tree.values():
            yield from _sources(below)


def in_flow(tree: Tree) -> str:
    """A tree as YAML on one line, its sources left out."""
    match tree:
        case Leaf(value):
            return _flow(value)
        case _:
            return "{" + ", ".join(f"{name}: {in_flow(below)}" for name, below in tree.items()) + "}"


def _flow(value: Value) -> str:
    if isinstance(value, str):
        return value
    return "{" + ", ".join(f"{name}: {_flow(below)}" for name, below in value) + "}"


def in_lines(name: str, tree: Tree, tagged: bool, silent: bool = False) -> Iterator[str]:
    """A key and its tree as lines of YAML, the key in the first column, each source in a comment: once, where all
    below has the same. `silent`: it has been said above."""
    said = sources(tree)
    comment = f"  # {said[0]}" if len(said) == 1 and not silent else ""
    tag = f" {TAG}" if tagged else ""
    if is_short(tree):
        yield f"{name}:{tag} {in_flow(tree)}{comment}"
    else:
        yield f"{name}:{tag}{comment}"
        yield from lines_below(tree, silent=silent or len(said) == 1)


def is_short(tree: Tree) -> bool:
    """Whether a tree is one value, however deep it stands: it fits on the line of its key."""
    if isinstance(tree, Leaf):
        return isinstance(tree.value, str)
    return len(tree) == 1 and all(is_short(below) for below in tree.values())


def lines_below(tree: Tree, silent: bool) -> Iterator[str]:
    """What stands below the key of a tree, as lines of YAML."""
    if isinstance(tree, Leaf):
        yield from _members(tree.value)
    else:
        for key, below in tree.items():
            yield from (f"  {line}" for line in in_lines(key, below, False, silent))


def _members(value: Value) -> Iterator[str]:
    assert not isinstance(value, str)
    for name, below in value:
        if isinstance(below, str):
            yield f"  {name}: {below}"
        else:
            yield f"  {name}:"
            yield from (f"  {line}" for line in _members(below))
