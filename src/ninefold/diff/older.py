"""The newer contract with proposed changes in part 9, and the older version that they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span
from ninefold.diff.compare import diff
from ninefold.diff.finding import Difference
from ninefold.diff.proposal import Applied, Apply, Kept, keep
from ninefold.diff.report import json_place, line_of, place_of
from ninefold.diff.sight import Address
from ninefold.diff.verdicts import Verdict
from ninefold.diff.wording import NOT_SHOWN, Step, Wording, quoted, said_of
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.fact import value_of
from ninefold.language.versioning import ENDPOINT
from ninefold.pipeline import Loaded, compile_tree
from ninefold.syntax.excerpt import whole
from ninefold.syntax.nodes import Document, Mapping, Node
from ninefold.syntax.yaml import compose

UNNAMED: Final = "next"
"""What the newer contract is called while it has no name."""

HEADER = "in: header\nname: Api-Version"
"""How a request names its version, where the newer contract says nothing of versions: so that the rest can be tried."""


def in_place_of(document: Document, name: str, above: str, steps: Sequence[Step], *, versioned: bool) -> Document:
    """The document with a version that these changes lead to, below another one, and none below it."""
    lines = [f"{step.written(tried=True)}" for step in steps]
    changes = "[" + ",\n".join(lines) + "]"
    part = document.part("versioning")
    if versioned:
        old = part.facts.get("versions")
        versions = old.value.entries if old is not None and isinstance(old.value, Mapping) else ()
        names = [each.name for each in versions]
        kept = versions[: names.index(above) + 1] if above in names else versions[:1]
        root = _read(f"versions: {{{quoted(name)}: {{changes: {changes}}}}}")
        (below,) = _mapping(root.entries[0].value).entries
        if not names or above not in names:
            kept = (replace(kept[0], key=replace(kept[0].key, text=above, value=above)),)
        value = Mapping(part.facts.span, (*kept, below))
        entries = tuple(replace(each, value=value) if each.name == "versions" else each for each in part.facts.entries)
        default = _read(f"default: {_key(name)}").entries[0]
        entries = tuple(default if each.name == "default" else each for each in entries)
    else:
        text = f"{HEADER}\nversions: {{{_key(above)}: {{}}, {_key(name)}: {{changes: {changes}}}}}\n"
        entries = _read(f"{text}default: {_key(name)}\ncompatible: none\n").entries
    facts = replace(part.facts, entries=entries)
    own = replace(part, facts=facts, statement=None, present=True)
    return _with_lines(replace(document, parts=(*document.parts[:-1], own)), steps)


def lines_of(document: Document, steps: Sequence[Step]) -> dict[str, str | None]:
    """The lines of part 5 that the changes want besides: of each endpoint that they add and that no line, and no
    endpoint of the newest version, is called as."""
    known = {each.name for each in document.part("authentication").facts.under("permissions")}
    known |= {each.name for each in document.part("endpoints").facts.entries}
    added = (step for step in steps if step.verb == "add" and ENDPOINT.fullmatch(step.subject))
    return {step.subject: step.line for step in added if step.subject not in known}


def _with_lines(document: Document, steps: Sequence[Step]) -> Document:
    """With those lines of part 5 alone that name an endpoint of a version which it has now, and with what these changes
    want besides."""
    part = document.part("authentication")
    stated = part.facts.get("permissions")
    if stated is None or not isinstance(stated.value, Mapping):
        return document
    versions = document.part("versioning").facts.under("versions")
    there = {ALL_OTHERS, *(each.name for each in document.part("endpoints").facts.entries)}
    there |= {subject for each in versions for subject in said_of(each.value)}
    wanted = [f"{quoted(key)}: {line}" for key, line in lines_of(document, steps).items() if line is not None]
    lines = [each for each in stated.value.entries if each.name in there]
    lines += _read("\n".join(wanted)).entries if wanted else ()
    permissions = replace(stated, value=replace(stated.value, entries=tuple(lines)))
    entries = tuple(permissions if each is stated else each for each in part.facts.entries)
    own = replace(part, facts=replace(part.facts, entries=entries))
    return replace(document, parts=tuple(own if each is part else each for each in document.parts))


def _key(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'


def _read(text: str) -> Mapping:
    return _mapping(compose(whole(text)).value)


def _mapping(node: Node | None) -> Mapping:
    assert isinstance(node, Mapping)
    return node


def applying(document: Document, name: str, above: str, *, versioned: bool) -> Apply:
    known: dict[tuple[str, ...], Applied] = {}

    def apply(steps: Sequence[Step]) -> Applied:
        key = tuple(f"{each.written()} {each.line}" for each in steps)
        if key not in known:
            known[key] = _applied(in_place_of(document, name, above, steps, versioned=versioned), name)
        return known[key]

    return apply


def _applied(document: Document, name: str) -> Applied:
    loaded = compile_tree(document)
    wrong = [each.message for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
    if wrong:
        return None, wrong[0]
    found = loaded.of(name)
    return (None, "it is not derived") if found is None or found is loaded else (found, "")


def again(loaded: Loaded, version: str) -> Kept:
    """Of an older version that a contract has: the changes that lead to it from the one above."""
    versions = value_of(loaded.contract.versioning.versions) or ()
    names = [each.name for each in versions]
    above = names[names.index(version) - 1]
    old, new = loaded.of(version), loaded.of(above)
    assert old is not None and new is not None
    stated = loaded.document.part("versioning").facts.get("versions")
    node = None if stated is None else _mapping(stated.value).get(version)
    wording = Wording(loaded.document, said_of(node.value) if node is not None else {}, {}, {})
    return keep(old, new.contract, wording, applying(loaded.document, version, above, versioned=True))


@dataclass(frozen=True, slots=True)
class Unkept:
    """What no change of part 9 keeps, by what is found of the two contracts, or by an address alone."""

    verdict: Verdict
    said: str
    old: Span | None
    new: Span | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """`name`: the older version, `above` the one that its changes lead back from. `has_versions`: the newer contract
    says how a request names a version, else it is to say what is in `head`; `is_named`: it has the one above. `lines`:
    those of part 5 that it wants besides; None: nobody can say whom one admits."""

    name: str
    above: str
    has_versions: bool
    is_named: bool
    head: tuple[str, ...]
    kept: Kept
    lines: dict[str, str | None]
    unkept: tuple[Unkept, ...]

    def block(self) -> list[str]:
        """The lines of part 9."""
        name = "" if self.is_named else "   # its name is yours to choose"
        lines = [*self.head, "versions:", f"  {_key(self.above)}: {{}}{name}", f"  {_key(self.name)}:"]
        lines += ["    changes:"] if self.kept.steps else ["    changes: none"]
        for step in self.kept.steps:
            note = f"   # {step.note}" if step.note else ""
            lines.append(f"      - {step.written()}{note}")
        return lines


def proposal(old: Loaded, new: Loaded) -> Proposal:
    """Of two contracts without errors. Raises NoWay."""
    has_versions = value_of(new.contract.versioning.location) is not None
    names = [each.name for each in value_of(new.contract.versioning.versions) or ()] if has_versions else []
    stated = value_of(old.contract.versioning.versions) or ()
    name = stated[0].name if stated else "1"
    at = names.index(name) if name in names else -1
    above = names[at - 1] if at > 0 else names[0] if names and at < 0 else UNNAMED
    newer = new.of(above) if above != UNNAMED else new
    if newer is None:
        raise NoWay(above)
    apply = applying(new.document, name, above, versioned=has_versions)
    kept = keep(old, newer.contract, Wording(old.document, None, {}, {}), apply)
    lines, unkept = lines_of(new.document, kept.steps), tuple(_unkept(kept, diff(old, newer)))
    head = () if has_versions else tuple(_head(old.document, name))
    return Proposal(name, above, has_versions, above in names, head, kept, lines, unkept)


def _head(old: Document, name: str) -> Iterator[str]:
    """How a request names a version, where the newer contract does not say it: as in the older one, else that is asked;
    one that names none goes on as it did."""
    said = {each.name: each.value for each in old.part("versioning").facts.entries}
    wording = Wording(old, None, {}, {})
    for key in ("in", "name", "default", "compatible"):
        if key in said:
            yield f"{key}: {wording.text(said[key], None)}"
        elif key != "name" and "in" not in said:
            yield f"{key}: {_key(name) if key == 'default' else NOT_SHOWN}"


class NoWay(Exception):
    """The newer contract does not show the way back to a version above the older one."""


def _unkept(kept: Kept, difference: Difference) -> Iterator[Unkept]:
    """The findings that stand where the derived version still differs, and what no finding tells."""
    known = {*kept.old, *kept.above, *kept.derived}
    told: set[Address] = set()
    for each in (each for each in difference.findings if each.part != 9):
        names = tuple(each.address.partition(" ")[2].split(" > "))
        here = [at for at in kept.left if _meets(at, (str(each.part), *names))]
        told |= {*here}
        is_apart = not here and kept.left and not any(_meets(at, (str(each.part), *names)) for at in known)
        if (here or is_apart) and each.verdict in ("breaking", "look", "opens"):
            yield Unkept(each.verdict, each.said, each.old, each.new)
    for at in kept.left:
        if at not in told:
            was, now = kept.old.get(at), kept.derived.get(at)
            said = f"`{' > '.join(at[1:])}` is not as it was"
            yield Unkept("look", said, None if was is None else was.span, None if now is None else now.span)
    for at in kept.wider:
        said = f"`{' > '.join(at[1:-1])}` may have values that only newer clients give: `is` says what is shown of them"
        yield Unkept("look", said, kept.old[at].span, None)


def _meets(at: Address, other: Address) -> bool:
    """Whether one address stands within the other; what is said of a field is of the field."""
    if at[0] == other[0] == "2" and at[2:3] == ("fields",):
        if other[1:3] == (at[1], "required"):
            return len(other) < 4 or other[3] == at[3]
        at, other = at[:4], other[:4]
    if at[0] == other[0] == "7":
        at, other = at[:3], other[:3]
    length = min(len(at), len(other))
    return at[:length] == other[:length]


def to_yaml(found: Proposal, old: Source, new: Source) -> str:
    """The block for part 9, and the lines for part 5; what cannot be kept stands in comments behind them."""
    lines = [f"# for part 9 of {new.name}", *found.block()]
    if found.lines:
        lines += ["", f"# for part 5 of {new.name}", "permissions:"]
        lines += [f"  {quoted(key)}: {line or NOT_SHOWN}" for key, line in found.lines.items()]
    if found.unkept:
        lines += ["", f"# {len(found.unkept)} cannot be kept by part 9:"]
    for each in found.unkept:
        lines.append(f"# {each.verdict}: {each.said}")
        for word, source, span in (("was", old, each.old), ("is ", new, each.new)):
            if span is not None:
                lines.append(f"#   {word} {place_of(source, span)}   {line_of(source, span)}")
    lines += [f"# refused: {step.written()}: {why}" for step, why in found.kept.refused]
    if not found.unkept:
        lines += ["", f"# derived and compared: the version {_key(found.name)} is {old.name}"]
    return "\n".join(lines)


def to_json(found: Proposal, old: Source, new: Source) -> dict[str, Any]:
    return {
        "version": found.name,
        "above": found.above if found.is_named else None,
        "changes": [
            {each.verb: each.subject, **dict(each.beside), **{key: None for key, _ in each.asked}, "note": each.note}
            for each in found.kept.steps
        ],
        "permissions": found.lines,
        "yaml": [each.written() for each in found.kept.steps],
        "cannot_be_kept": [
            {"verdict": each.verdict, "message": each.said, "old": json_place(old, each.old),
             "new": json_place(new, each.new)}
            for each in found.unkept
        ],
    }  # fmt: skip
