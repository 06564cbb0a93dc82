"""Two contracts, and what the change from one to the other does to whom. Start reading here.

The trees of both are walked side by side (`changes`). Each difference is made alone, and the two plans are compared
without their places (`alone`, `meaning`): what no plan feels are words. What is felt is judged (`judge`) by the kind of
its key, its side and its direction (`verdicts`); and what differs between the plans with no difference to account for
it is told for somebody to look at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ninefold.diff.alone import Alone, Both
from ninefold.diff.changes import OTHER_EDGE, Change, Place, Route, changes
from ninefold.diff.finding import Difference, Finding, Witness, in_order
from ninefold.diff.judge import Judge
from ninefold.diff.kept import felt_by_nobody, is_kept_for_all, kept, serves_by_default
from ninefold.diff.meaning import Felt, Piece
from ninefold.diff.normal import Normal, Words, normal, renamed, words_of
from ninefold.diff.orders import NOWHERE, OF_NO_ROUTE, moved
from ninefold.diff.plain import plain
from ninefold.diff.verdicts import Effect, Promise, promise_of
from ninefold.language.declaration import key_of
from ninefold.language.versioning import Versioning
from ninefold.pipeline import Loaded, uncollected
from ninefold.plan.limits import Limits, Rate
from ninefold.plan.problems import Problems, names
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Version
from ninefold.syntax.nodes import Mapping, Node, Scalar
from ninefold.syntax.nodes import Sequence as SequenceNode
from ninefold.trace.refusals import refusals

_PROMISED: Final = key_of(Versioning, "compatible")
_VERSION: Final = "versions.VERSION"
_DEFAULT: Final = "default"
_CHANGES: Final = "versions.VERSION.changes"

Showing: TypeAlias = Callable[[ServicePlan, Finding, ServicePlan | None], tuple[Witness | None, int] | None]
"""A request that a plan answers otherwise than the old one, at the endpoints of a finding, or at any; and how many were
told. None: nobody asks for one of this finding. The last plan answers it as the old one, if there is one."""


@uncollected()
def diff(old: Loaded, new: Loaded, shown: Showing | None = None) -> Difference:
    """Of two contracts without errors."""
    words = words_of(old.document), words_of(new.document)
    found = changes(old.document, new.document, *words)
    promise = promise_of(old.contract)
    both = Both(old, new, found)
    judge = Judge(both, words, promise)
    groups = tuple(_groups(found, words))
    findings: list[Finding] = []
    newest: list[int] = []
    covered: set[str] = set()
    worded: set[str] = set()
    rest: set[str] = set()
    for group in groups:
        withdrawn = _withdrawn(group[0], promise)
        if withdrawn is not None:
            findings.append(withdrawn)
            continue
        alone = both.alone(group, groups)
        finding = replace(_finding(group, judge, alone, both), meant=_meant(group, words))
        if shown is not None and finding.verdict != "words":
            finding = _with_witness(finding, group, alone, both, shown)
        newest += [len(findings)] if alone.newest and finding.effects else []
        findings.append(finding)
        if alone.known or finding.verdict in ("breaking", "look"):  # words, too: they are proved to be nothing else
            covered |= {*alone.felt.endpoints}
        if finding.verdict == "words":
            worded |= {each for each in alone.felt.versions if each is not None}
        if alone.known:
            rest |= alone.felt.rest.keys()
    unnamed = _name_the_others(findings, newest, both) if newest else _others(findings, both, worded)
    left = [
        key
        for of, key in both.whole.felt.routes
        if (of, key) in both.whole.felt.apart
        if of in unnamed or (key not in covered and (of is None or not both.seems_the_same(of)))
    ]
    left = [*dict.fromkeys(left)]
    if left:
        effect = Effect("readers", "look", None, "it answers in another way, and no one line alone says why")
        plans = [(key, was.routes.get(key)) for key in both.whole.felt.routes for was in (both.before, both.after)]
        meant = repr([(key, None if one is None else one.plain) for key, one in plans if key[1] in left])
        findings.append(Finding("all together", 4, effect.said, (effect,), tuple(left), meant=meant))
    elif all(each.verdict == "words" for each in findings) and (
        planned := [name for name, side in both.whole.felt.rest.items() if side != "runs" and name not in rest]
    ):
        effect = Effect("operators", "look", None, f"something else is planned: {', '.join(planned)}")
        findings.append(Finding("all together", 8, effect.said, (effect,)))
    return Difference(old.source, new.source, promise, in_order(findings))


def _with_witness(finding: Finding, group: tuple[Change, ...], alone: Alone, both: Both, shown: Showing) -> Finding:
    """What cannot be made alone is shown by all together, at its own endpoints. What is said of a version is shown to
    who is served by it: to others something else may be another."""
    if finding.part == 9 and (alone.plan is None or alone.newest):
        named = dict.fromkeys((*_versions_of(group), *finding.older))
        if not named and (alone.newest or both.old_plan.versions is None):
            return replace(finding, unsought="no request is told: none names a version that it is of")
        finding = replace(finding, of_versions=tuple(named))
    plan = alone.plan if alone.known and alone.plan is not None else both.new_plan
    is_beside = alone.newest and alone.plan is not None
    answer = shown(plan, finding, alone.before if is_beside else None)
    return finding if answer is None else replace(finding, witness=answer[0], told=answer[1])


def _versions_of(group: Sequence[Change]) -> Iterator[str]:
    """What changes of part 9 are of; of those with which a version comes on top, or goes, that one."""
    above = [each.names[1] for each in group if each.key.path == _VERSION]
    yield from above or (each.names[1] for each in group if each.key.path.startswith(_VERSION))


def _name_the_others(findings: list[Finding], newest: Sequence[int], both: Both) -> tuple[str, ...]:
    """What is another in an older version, and is no difference's alone, may come of each that was made for the newest
    one. The versions of which nothing is told that somebody looks at."""
    unnamed = _others(findings, both)
    for at in newest:
        findings[at] = replace(findings[at], older=unnamed, how_older="perhaps")
    return () if any(findings[at].verdict in ("breaking", "look") for at in newest) else unnamed


def _others(findings: Sequence[Finding], both: Both, worded: Container[str] = ()) -> tuple[str, ...]:
    """The versions that are another and that no finding names. `worded`: those that are written otherwise."""
    named = {version for each in findings for version in each.older}
    return tuple(each for each in _older(both, both.whole) if each not in named and each not in worded)


def _withdrawn(change: Change, promise: Promise) -> Finding | None:
    """A word that the list of what is compatible has no more: what was promised is not."""
    listed = promise.words or frozenset()
    if change.how != "removed" or promise.span is None or change.names[-1] not in listed:
        return None
    if change.key.shape != _PROMISED.shape:
        return None
    said = f"it was promised that `{change.names[-1]}` is compatible, and is not any more"
    assert change.old is not None
    return Finding(
        change.address, change.part, said, (Effect("senders", "breaking", change.names[-1], said),),
        old=change.old.node.span,
    )  # fmt: skip


def _groups(found: Sequence[Change], words: tuple[Words, Words]) -> Iterator[tuple[Change, ...]]:
    """Each difference, and with something that has another name all that only uses it; with a version that has come on
    top the changes that lead back from it."""
    rest = list(found)
    for how in ("added", "removed"):
        above = [each for each in rest if each.how == how and each.key.path == _VERSION]
        back = [each for each in rest if each.how == how and each.key.path == _CHANGES]
        if above and back and all(_at(each, how) < _at(back[0], how) for each in above):
            rest = [each for each in rest if each not in above and each not in back[:1]]
            yield (*above, back[0])
    for change in found:
        if change.called is None or change not in rest:
            continue
        rest.remove(change)
        before, after = change.called
        uses = [each for each in rest if _only_names(each, rest, before, after, words)]
        rest = [each for each in rest if each not in uses]
        yield (change, *uses)
    for change in rest:
        own = [each for each in rest if _is_its_line(each, change)]
        if not any(_is_its_line(change, each) for each in rest):
            yield (change, *own)


def _is_its_line(change: Change, of: Change) -> bool:
    """Whether it is who may call an endpoint, which comes or goes with it."""
    is_line = change.part == 5 and change.key.path.startswith("permissions") and len(change.names) == 2
    return is_line and (of.part, of.key.path, of.how) == (4, "ENDPOINT", change.how) and of.names[0] == change.names[1]


def _at(change: Change, how: str) -> Route:
    """Where it stands in the contract that has it."""
    place = change.new if how == "added" else change.old
    assert place is not None
    return place.route


def _only_names(change: Change, all_of: Sequence[Change], before: str, after: str, words: tuple[Words, Words]) -> bool:
    """Whether a difference is only that something is called otherwise: changed at its place, or gone and come there.
    What else is called so, as a key or a function, stays what it is: with one name for both the two say the same."""
    word = re.compile(rf"(?<![\w]){re.escape(before)}(?![\w])")

    def turned(each: Change, place: Place | None, of: Words) -> Normal | None:
        if place is None:
            return None
        return word.sub(after, place.name), renamed(normal(place.node, each.key, of), word, after, each.key)

    def was(each: Change) -> Normal | None:
        return turned(each, each.old, words[0])

    def now(each: Change) -> Normal | None:
        return turned(each, each.new, words[1])

    if change.old is not None and change.new is not None:
        return was(change) == now(change)
    twins = (each for each in all_of if each.part == change.part and each.names[:-1] == change.names[:-1])
    if change.old is not None:
        return any(each.old is None and now(each) == was(change) for each in twins)
    return any(each.new is None and was(each) == now(change) for each in twins)


def _finding(group: tuple[Change, ...], judge: Judge, alone: Alone, both: Both) -> Finding:
    change = group[0]
    found = judge.effects(change, alone)
    if len(group) > 1 and alone.met:
        found = tuple(dict.fromkeys((*found, *judge.effects(change, alone))))
    endpoints = alone.felt.endpoints if alone.known else tuple(_own(change, alone))
    everywhere = bool(found) and alone.felt.everywhere
    if everywhere and change.key.path == _DEFAULT and change.part == 9:
        endpoints = ()  # whoever names no version is answered as another one says, wherever it is
    some = concerned(alone.before, alone.plan, alone.felt) if everywhere and alone.plan is not None else None
    if some is not None:
        endpoints, everywhere = tuple(dict.fromkeys((*endpoints, *some))), False
    version = None if change.part == 9 else kept(both, alone, endpoints)
    is_for_all = version is not None and is_kept_for_all(both, version)
    if version is not None and is_for_all:
        found = felt_by_nobody(found, both, version)
    return Finding(
        change.address,
        change.part,
        _said(change),
        found,
        endpoints if found else (),
        everywhere,
        None if change.old is None else (change.old.entry or change.old.node).span,
        None if change.new is None else (change.new.entry or change.new.node).span,
        0 if change.called is None else len(group) - 1,
        version if is_for_all or any(each.verdict == "breaking" for each in found) else None,
        _older(both, alone) if found else (),
        how_older="too" if None in alone.felt.versions else "alone",
        kept_by_default=version is not None and serves_by_default(both, version),
    )


def _meant(group: tuple[Change, ...], words: tuple[Words, Words]) -> str:
    """What both say at the place, and wherever it is used: a text of `Finding.said` is cut short."""
    places = ((each.key, place, of) for each in group for place, of in zip((each.old, each.new), words, strict=True))
    return repr([None if place is None else (place.name, normal(place.node, key, of)) for key, place, of in places])


def _own(change: Change, alone: Alone) -> Iterator[str]:
    """The endpoint that a difference stands in; else all where something is felt."""
    felt = alone.felt.endpoints
    own = next((name for name in change.names if name in felt), None)
    yield from felt if own is None else (own,)


def _older(both: Both, alone: Alone) -> tuple[str, ...]:
    """The older versions of the old contract in which it is felt, and which are not as they were for who names them."""
    versions = both.old_plan.versions
    names = () if versions is None else tuple(each.name for each in versions.versions if each.name != versions.current)
    return tuple(name for name in names if name in alone.felt.versions and not both.seems_the_same(name))


def _said(change: Change) -> str:
    what = f"`{' > '.join(change.names)}`"
    match change.how:
        case "added":
            return f"{what} is new"
        case "removed":
            return f"{what} is gone"
        case "renamed":
            assert change.old is not None and change.new is not None
            if change.key.name in OTHER_EDGE:
                return f"{what} is `{change.new.called}: {_text(change.new.node)}`, was {_short(change.old.node)}"
            return f"{what} is called `{change.new.called}`"
        case "reordered":
            return f"{what} is in another order"
        case "changed":
            assert change.old is not None and change.new is not None
            return f"{what} is {_short(change.new.node)}, was {_short(change.old.node)}"


def _short(node: Node) -> str:
    match node:
        case Scalar(text=text):
            return f"`{_cut(' '.join(text.split()))}`"
        case SequenceNode(items=items) if all(isinstance(each, Scalar) for each in items) and len(items) <= 6:
            return f"[{', '.join(each.text for each in items if isinstance(each, Scalar))}]"
        case SequenceNode(items=items):
            return f"a list of {len(items)}"
        case Mapping(entries=entries):
            return "`{" + _cut(", ".join(f"{each.name}: {_text(each.value)}" for each in entries)) + "}`"


def _text(node: Node) -> str:
    return " ".join(node.text.split()) if isinstance(node, Scalar) else "…"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


# Which endpoints are concerned by what is said of all of them: a rate of some, a code that some answer.


def concerned(old: ServicePlan, new: ServicePlan, felt: Felt) -> tuple[str, ...] | None:
    """None: all are, or nobody can say which."""
    found: dict[str, None] = {}
    for name, side in felt.rest.items():
        if side in ("runs", "moves"):
            continue
        match name.partition(" of "):
            case ("limits", _, _):
                some = _of_limits(old.limits, new.limits)
            case ("problems", _, version):
                some = _of_problems(old, new, version)
            case _:
                some = None
        if some is None:
            return None
        found |= dict.fromkeys(some)
    return tuple(found)


def _differ(one: Any, other: Any) -> bool:
    return not Piece(one).says_the_same(Piece(other))


def _besides(of: Any, *without: str) -> dict[str, Any]:
    return {name: said for name, said in plain(of).items() if name not in without}


def _of_limits(old: Limits, new: Limits) -> list[str] | None:
    if _besides(old, "rates") != _besides(new, "rates"):
        return None
    was, now = {each.name: each for each in old.rates}, {each.name: each for each in new.rates}
    others = [(was.get(name), now.get(name)) for name in {*was, *now}]
    rates = [rate for pair in others if _differ(*pair) for rate in pair if rate is not None]
    if not all(rate.endpoints for rate in rates):
        return None
    return [key for stood, stands in others for key in _counted_otherwise(stood, stands)]


def _counted_otherwise(old: Rate | None, new: Rate | None) -> Iterable[str]:
    """The endpoints whose requests are counted otherwise by a rate."""
    was, now = (() if each is None else each.endpoints for each in (old, new))
    if old is not None and new is not None and _besides(old, "endpoints") == _besides(new, "endpoints"):
        return [each for each in dict.fromkeys((*was, *now)) if (each in was) is not (each in now)]
    return (*was, *now)


def _of_problems(old: ServicePlan, new: ServicePlan, version: str) -> list[str] | None:
    """Those of the newest, where `version` is empty. One that is in one of the two alone is told by its routes."""
    stood, stands = _problems(old, version), _problems(new, version)
    if stood is None or stands is None:
        return []
    if _besides(stood, "codes", "conditions", "precedence") != _besides(stands, "codes", "conditions", "precedence"):
        return None
    was, now = ({each.name: each for each in problems.codes} for problems in (stood, stands))
    codes = {name for name in {*was, *now} if _differ(was.get(name), now.get(name))}
    before, after = stood.conditions, stands.conditions
    conditions = {each for each in {*before, *after} if before.get(each) != after.get(each)}
    conditions |= {each for of in (before, after) for each, code in of.items() if code in codes}
    turned = [] if stood.precedence == stands.precedence else [*moved(old, new, version or None)]
    told = [key for each in turned for key in each.endpoints]
    if conditions & {*OF_NO_ROUTE} or NOWHERE in told:
        return None
    return [*told, *(key for plan in (old, new) for key in _answering(plan, version, codes, conditions))]


def _problems(plan: ServicePlan, version: str) -> Problems | None:
    return next((each.problems for each in _versions(plan) if each.name == version), None if version else plan.problems)


def _versions(plan: ServicePlan) -> tuple[Version, ...]:
    return () if plan.versions is None else plan.versions.versions


def _answering(plan: ServicePlan, version: str, codes: set[str], conditions: set[str]) -> Iterator[str]:
    of_version = (each.routes for each in _versions(plan) if each.name == version)
    for route in next(of_version, ()) if version else plan.routes:
        if not isinstance(route, Served):
            continue
        own = {*route.errors.values()} & codes
        for each in refusals(route, plan):
            told = own or each.code in codes or {*names(each.condition, each.subject)} & conditions
            if told:
                yield route.key
                break
