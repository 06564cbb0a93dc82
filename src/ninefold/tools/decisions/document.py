"""What is to become of rows, decided in a document beside the contract that is read with one upgrade:

    from: 2f0c…                       # the shape that the database has
    changes:
      - {rename: order.note, to: order.comment}
      - {set: order.cents, is: int(old.price * 100.0)}
      - {set: customer.region, is: "'EU'", where: "!has(old.region)"}
      - {state: order.requested, to: draft, since: kept}
      - {aside: order.memo}
      - {lose: order.pages}
      - {remove rows: order, where: old.total < 0}
      - {leave: room.title}             # rows that do not fit it any more stay as they are
      - {reissue: member.key}           # the secrets that rows have end
      - {scheme: session, to: login}    # what was issued as of one scheme is of another

Expressions are CEL, typed against what is stored: `old` is the row as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from ninefold.diagnostics.codes import NOT_A_DECISION
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome, has_errors
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.syntax import nodes
from ninefold.syntax.excerpt import whole
from ninefold.syntax.yaml import compose


@dataclass(frozen=True, slots=True)
class Rename:
    """A field (`order.note`), or a resource where neither name has a point."""

    old: nodes.Scalar
    new: nodes.Scalar


@dataclass(frozen=True, slots=True)
class Set:
    """`where`: of which rows; None: of all."""

    field: nodes.Scalar
    value: nodes.Scalar
    where: nodes.Scalar | None


@dataclass(frozen=True, slots=True)
class MapState:
    """`order.requested`: rows of `order` in the state `requested` go to the state `to`; `kept`: they are in it since
    they were in the other, else from now on."""

    state: nodes.Scalar
    to: nodes.Scalar
    kept: bool


@dataclass(frozen=True, slots=True)
class Hide:
    """A field that goes, or a resource where the name has no point, is set aside and not renamed; `lost`: it ends, with
    its values or rows."""

    field: nodes.Scalar
    lost: bool


@dataclass(frozen=True, slots=True)
class RemoveRows:
    resource: nodes.Scalar
    where: nodes.Scalar | None


@dataclass(frozen=True, slots=True)
class Leave:
    """Rows that do not fit a field as the contract has it now, or break one of its checks, stay as they are."""

    about: nodes.Scalar


@dataclass(frozen=True, slots=True)
class Reissue:
    """The secrets that rows have in a field end: they are of another kind than the contract has."""

    field: nodes.Scalar


@dataclass(frozen=True, slots=True)
class CallScheme:
    """The credentials that were issued as of a scheme are of the scheme `to`, as the contract has it."""

    scheme: nodes.Scalar
    to: nodes.Scalar


Decision: TypeAlias = Rename | Set | MapState | Hide | RemoveRows | Leave | Reissue | CallScheme


@dataclass(frozen=True, slots=True)
class Decided:
    """`made_for`: the shape that it was written for, if it says so. `source`: None where nobody wrote it."""

    made_for: nodes.Scalar | None
    decisions: tuple[Decision, ...]
    source: Source | None = None

    @property
    def mentioned(self) -> frozenset[str]:
        """What is decided about, by its older name: fields, and states."""
        return frozenset(about.text for each in self.decisions if (about := _about(each)) is not None)


def _about(decision: Decision) -> nodes.Scalar | None:
    match decision:
        case CallScheme():
            return None  # a resource may be called so, too
        case Rename():
            return decision.old
        case MapState():
            return decision.state
        case RemoveRows():
            return decision.resource
        case Leave():
            return decision.about
        case Set() | Hide() | Reissue():
            return decision.field


NOTHING_DECIDED: Final = Decided(None, ())

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "rename": ("to",),
    "set": ("is", "where"),
    "state": ("to", "since"),
    "aside": (),
    "lose": (),
    "remove rows": ("where",),
    "leave": (),
    "reissue": (),
    "scheme": ("to",),
}
"""What is decided, and what may stand beside it."""


def read(source: Source) -> Outcome[Decided]:
    outcome = compose(whole(source.text))
    reader = _Reader(list(outcome.diagnostics))
    root = outcome.value
    # Of what cannot be read it is not known what it would be.
    unread = has_errors(outcome.diagnostics)
    if not isinstance(root, nodes.Mapping):
        if unread:
            return Outcome(NOTHING_DECIDED, outcome.diagnostics)
        reader.say("the document is not a mapping", Span(0, 0), "its keys are `from` and `changes`")
        return Outcome(NOTHING_DECIDED, tuple(reader.found))
    for entry in root.entries:
        if entry.name not in ("from", "changes"):
            reader.say(f"`{entry.name}` is no key of an upgrade", entry.key.span, "its keys are `from` and `changes`")
    made_for, listed = root.get("from"), root.get("changes")
    items = listed.value.items if listed is not None and isinstance(listed.value, nodes.Sequence) else ()
    nothing = listed is None or (isinstance(listed.value, nodes.Scalar) and listed.value.text == "")
    if listed is not None and not nothing and not unread and not isinstance(listed.value, nodes.Sequence):
        reader.say("`changes` is not a list", listed.span)
    decisions = tuple(found for item in items if (found := reader.decision(item)) is not None)
    value = None if made_for is None or not isinstance(made_for.value, nodes.Scalar) else made_for.value
    return Outcome(Decided(value, decisions, source), tuple(reader.found))


class _Reader:
    def __init__(self, found: list[Diagnostic]) -> None:
        self.found = found

    def say(self, message: str, span: Span, *help: str) -> None:
        self.found.append(Diagnostic(NOT_A_DECISION, message, (Label(span, ""),), help))

    def decision(self, item: nodes.Node) -> Decision | None:
        verbs = ", ".join(f"`{verb}`" for verb in _KEYS)
        if not isinstance(item, nodes.Mapping) or not item.entries:
            self.say("a change is a mapping", item.span, f"it begins with one of {verbs}")
            return None
        first = item.entries[0]
        if first.name not in _KEYS:
            near = did_you_mean(first.name, _KEYS) or (f"a change begins with one of {verbs}",)
            self.say(f"`{first.name}` is nothing that is done to rows", first.key.span, *near)
            return None
        taken = {entry.name: entry for entry in item.entries}
        for entry in item.entries[1:]:
            if entry.name not in _KEYS[first.name]:
                self.say(f"`{entry.name}` does not stand beside `{first.name}`", entry.key.span)
        said = {name: entry.value for name, entry in taken.items() if isinstance(entry.value, nodes.Scalar)}
        for name in taken.keys() - said.keys():
            self.say(f"`{name}` is one word or expression", taken[name].value.span)
        if first.name not in said:
            return None
        return self._decision(first.name, said[first.name], said, item.span)

    def _decision(
        self, verb: str, about: nodes.Scalar, said: Mapping[str, nodes.Scalar], span: Span
    ) -> Decision | None:
        needed = {"rename": "to", "set": "is", "state": "to", "scheme": "to"}.get(verb)
        if needed is not None and needed not in said:
            self.say(f"`{verb}` says nothing without `{needed}`", span)
            return None
        match verb:
            case "rename":
                return Rename(about, said["to"])
            case "set":
                return Set(about, said["is"], said.get("where"))
            case "state":
                since = said.get("since")
                if since is None or since.text not in ("kept", "now"):
                    self.say("`since` is `kept` or `now`", span if since is None else since.span)
                    return None
                return MapState(about, said["to"], since.text == "kept")
            case "aside" | "lose":
                return Hide(about, verb == "lose")
            case "leave":
                return Leave(about)
            case "reissue":
                return Reissue(about)
            case "scheme":
                return CallScheme(about, said["to"])
            case _:
                return RemoveRows(about, said.get("where"))
