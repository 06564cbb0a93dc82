"""`ninefold diff OLD NEW`"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Annotated, Literal, TypeAlias

from ninefold.cli.check import say_sarif
from ninefold.cli.commands import Flag, Parameter, Settings, option
from ninefold.cli.document import compiled
from ninefold.cli.files import read_bytes, request_files
from ninefold.cli.git_file import DRIVER, bytes_of, given_to_driver
from ninefold.cli.operator_values import operator_values
from ninefold.cli.proposals import rewrite
from ninefold.cli.terminal import Unusable, complain, remark, say, say_visibly, show
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.ablate.fixed import rehearse, scripts
from ninefold.diff.acceptance import NotAccepted, acceptances
from ninefold.diff.compare import Showing
from ninefold.diff.compare import diff as compared
from ninefold.diff.finding import Difference, Finding, Witness
from ninefold.diff.older import Proposal
from ninefold.diff.report import of_audience, of_what, results, summary, to_json, to_markdown, to_text
from ninefold.diff.requests import Unreadable
from ninefold.diff.verdicts import VERDICTS, Audience
from ninefold.diff.witness import made, showing, until
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.whole import contract_of
from ninefold.syntax.nodes import PARTS
from ninefold.syntax.parser import read

Old: TypeAlias = Annotated[
    str, Parameter(help="The contract as it was: a file, `REF:PATH` of git, or `-`.", allow_leading_hyphen=True)
]

New: TypeAlias = Annotated[
    str | None, Parameter(help="The contract as it is to be, in the same ways.", allow_leading_hyphen=True)
]


Audiences: TypeAlias = Annotated[
    Literal["senders", "readers", "receivers", "operators", "owners"] | None,
    Parameter(name="--for", help="Only what concerns these."),
]

Accepted: TypeAlias = Annotated[
    str | None,
    Parameter(help="A file of findings that are accepted, each with a reason and a date; text tells their fingerprints "
              "then.", show_default=False),
]  # fmt: skip

Propose: TypeAlias = Annotated[
    bool,
    option(help="Tell the changes for part 9 of NEW that keep OLD served, tried by deriving it, and what cannot be "
              "kept."),
]  # fmt: skip

Write: TypeAlias = Annotated[bool, option(help="With `--propose`: write it into NEW as well.")]

GitDriver: TypeAlias = Annotated[
    bool,
    option(help=f"As git calls its driver of differences, `{DRIVER}`: the exit status is 0."),
]

OfGit: TypeAlias = Annotated[
    str, Parameter(help="What git adds with `--git-driver`; nothing else.", allow_leading_hyphen=True)
]

Seek: TypeAlias = Annotated[
    float,
    Parameter(help="Seconds of work in which requests are made of both contracts and told to them, in process, so that "
              "each finding has one that shows it. 0: none are made."),
]  # fmt: skip


def diff(
    old: Old,
    new: New = None,
    /,
    *more: OfGit,
    database: Annotated[str | None, Parameter(show_default=False)] = None,
    requests: Annotated[Sequence[str], Parameter(negative=())] = (),
    settings: Settings = (),
    format: Literal["text", "json", "sarif", "markdown"] = "text",
    all: Flag = False,
    audience: Audiences = None,
    part: int | None = None,
    accepted: Accepted = None,
    fail_on: Literal["breaking", "look", "opens", "any", "never"] = "look",
    seek: Seek = 20,
    propose: Propose = False,
    write: Write = False,
    git_driver: GitDriver = False,
) -> int:
    """Say what a change of a contract does to those who rely on it.

    Each difference is *breaking*, to be looked at (*look*: nobody could prove that it is not), *opens* something (who
    sees or may do more than before), is *compatible*, or changes *words* alone; for senders, readers, receivers of
    events, operators, and those whose rows they are. What counts as compatible part 9 of OLD lists; where it says
    nothing, what adds is compatible. docs/diff.md says how a verdict comes about.

    Exit status: 0 if nothing is at or above `--fail-on`, 1 if something is, 2 if a side has errors or cannot be read,
    or something differs and `compatible` of part 9 is not shown: then there is no verdict, but effects.

        ninefold diff main:contract.md contract.md --format markdown
        ninefold diff old.md new.md --requests requests.http
        ninefold diff --database orders.db orders.md
        ninefold diff main:contract.md contract.md --propose --write

    Parameters
    ----------
    database
        In place of OLD: the contract that it was last served with. A service may run meanwhile.
    requests
        A file of requests, or a directory of `.http` files, told in order; may come several times. They count first.
    format
        `json` gives one object a line for each finding; `sarif` is for tools that show findings at their lines.
    all
        Tell what is compatible, and words, one by one.
    part
        Only what stands in this part.
    fail_on
        From what on the exit status is 1, the gravest first: breaking, look, opens, any difference; or never.
    """
    asked = _Asked(accepted, _accepted(accepted), audience, part)

    def told(before: Loaded, after: Loaded) -> int:
        if before.plan is None or after.plan is None or propose:
            return _proposed(before, after, format, fail_on, new or old if write else None)
        difference = _difference(before, after, requests, settings, seek, asked.is_told)
        found, beside = asked.of(difference)
        _say(difference, found, format, beside, everything=all, named=accepted is not None)
        return 2 if found and difference.promise.is_open and fail_on != "never" else _status(found, fail_on)

    return _driven((old, new, *more), told) if git_driver else told(*_sides(old, new, database, *more))


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which findings are asked for. `known`: those that are accepted in `file`; None: there is none."""

    file: str | None
    known: Collection[str] | None
    audience: Audience | None
    part: int | None

    def __post_init__(self) -> None:
        """Raises Unusable."""
        if self.part is not None and not 1 <= self.part <= len(PARTS):
            raise Unusable(f"a contract has no part {self.part}", f"its parts are 1 to {len(PARTS)}")

    def is_told(self, finding: Finding) -> bool:
        return finding.fingerprint not in (self.known or ()) and bool(of_audience((finding,), self.audience, self.part))

    def of(self, difference: Difference) -> tuple[tuple[Finding, ...], str]:
        """Those of a difference, and how many others there are, in words."""
        concern = of_audience(difference.findings, self.audience, self.part)
        found = _open(concern, self.known, f"accepted in {self.file}")
        return found, of_what(len(difference.findings) - len(concern), len(concern) - len(found))


def _driven(words: Sequence[str | None], told: Callable[[Loaded, Loaded], int]) -> int:
    """What git asks for in the place of its own difference. Anything but 0 ends git; what is wrong is said."""
    try:
        (name, old), (now, new) = given_to_driver([each for each in words if each is not None])
        if old is None or new is None:
            say_visibly(f"{name} is {'not merged' if old == new else 'new' if old is None else 'gone'}")
        else:
            say_visibly(f"{name}:" if name == now else f"{name}, called {now} now:")
            told(compiled(f"a/{name}", read_bytes(old)), compiled(f"b/{now}", read_bytes(new)))
    except Unusable as error:
        complain(str(error), *error.help, details=error.details)
    return 0


def _proposed(old: Loaded, new: Loaded, format: str, fail_on: str, file: str | None) -> int:
    """Where both sides can be served; else it is said why there is no verdict either. `file`: it is written there."""
    if old.plan is None or new.plan is None:
        return _no_verdict(old, new)
    if format not in ("text", "json"):
        raise Unusable(f"a proposal is told as text or as JSON, not as {format}")
    from ninefold.diff.older import NoWay, proposal, to_json, to_yaml

    try:
        found = proposal(old, new)
    except NoWay as error:
        raise Unusable(f"the way back to the version `{error}` of {new.source.name} is not shown") from None
    if format == "json":
        from msgspec import json

        say(json.encode(to_json(found, old.source, new.source)).decode())
    else:
        say_visibly(to_yaml(found, old.source, new.source))
    if file is not None:
        _write(found, new, file)
    return 1 if found.unkept and fail_on != "never" else 0


def _write(found: Proposal, new: Loaded, file: str) -> None:
    """Raises Unusable, and nothing is written."""
    from ninefold.diff.written import NoPlace, written

    if not found.kept.steps:
        return
    try:
        text = written(found, new)
    except NoPlace as error:
        raise Unusable(f"{file} is left as it is: {error}", "what is to be written there is printed above") from None
    rewrite(file, read_bytes(file), new.source.text, text, write=True)


def _sides(old: str, new: str | None, database: str | None, *more: str) -> tuple[Loaded, Loaded]:
    """Raises Unusable."""
    if more:
        raise Unusable("two contracts are compared, and more are given", "ninefold diff OLD NEW")
    if old == new == "-":
        raise Unusable("standard input is one document, and not both")
    if new is not None and database is None:
        return _whole(old), _whole(new)
    if new is None and database is not None:
        return _served(database), _whole(old)
    raise Unusable("two contracts are compared", "ninefold diff OLD NEW, or ninefold diff --database URL CONTRACT")


def _no_verdict(*sides: Loaded) -> int:
    for each in sides:
        if each.plan is None:
            show(each.diagnostics, each.source, sys.stderr)
    remark("there is no verdict: a side has errors")
    return 2


def _whole(name: str) -> Loaded:
    return compiled(name, bytes_of(name))


def _served(database: str) -> Loaded:
    """The contract that a database was last served with. Raises Unusable."""
    try:
        name, text = contract_of(database)
    except NotUpgraded as error:
        raise Unusable(str(error), *error.help) from None
    return compiled(f"{database}:{name}", text.encode())


def _accepted(name: str | None) -> Collection[str] | None:
    """Raises Unusable."""
    if name is None:
        return None
    try:
        return acceptances(read(name, read_bytes(name)).value)
    except NotAccepted as error:
        raise Unusable(str(error)) from None


def _open(found: tuple[Finding, ...], known: Collection[str] | None, words: str) -> tuple[Finding, ...]:
    """Those that nobody has accepted; the others are counted."""
    if known is None:
        return found
    there = {each.fingerprint for each in found}
    remark(f"{len(there.intersection(known))} {words}")
    for each in known:
        if each not in there:
            remark(f"{each} is accepted and not found: its line can go")
    return tuple(each for each in found if each.fingerprint not in known)


def _difference(
    before: Loaded,
    after: Loaded,
    requests: Sequence[str],
    settings: Sequence[str],
    seek: float,
    is_told: Callable[[Finding], bool],
) -> Difference:
    """Of what is not told nobody has to see a request."""
    is_over = until(seek)
    shown = _showing(before, after, requests, settings, is_over if seek > 0 else None)
    sought = False

    def asked(plan: ServicePlan, finding: Finding, base: ServicePlan | None) -> tuple[Witness | None, int] | None:
        nonlocal sought
        if shown is None or not is_told(finding):
            return None
        sought = True
        return shown(plan, finding, base)

    difference = compared(before, after, asked)
    if sought and seek > 0 and is_over():
        remark(f"{seek:g} seconds were over before all requests were told; --seek gives more")
    return difference


def _showing(
    old: Loaded, new: Loaded, requests: Sequence[str], settings: Sequence[str], is_over: Callable[[], bool] | None
) -> Showing | None:
    """`is_over` None: none are made."""
    if not requests and is_over is None:
        return None
    assert old.plan is not None and new.plan is not None
    operator = operator_values([value.name for value in old.plan.operator], settings, None, os.environ)
    try:
        recorded = rehearse(old, scripts(request_files(requests)), operator) if requests else None
        make = None if is_over is None else partial(made, old, new, operator, is_over)
        return showing(new.plan, recorded, make, is_over or (lambda: False))
    except Unreadable as error:
        first, *rest = str(error).split("\n")
        raise Unusable(first, details=rest) from None


def _say(
    difference: Difference, found: tuple[Finding, ...], format: Literal["text", "json", "sarif", "markdown"],
    beside: str, *, everything: bool, named: bool,
) -> None:  # fmt: skip
    match format:
        case "text":
            say_visibly(to_text(difference, found, everything, named, beside))
        case "json":
            from msgspec import json

            for each in found:
                say(json.encode(to_json(difference, each)).decode())
        case "sarif":
            say_sarif(results(difference, found), difference.new, difference.old)
        case "markdown":
            say(to_markdown(difference, found, beside))
    if format in ("json", "sarif"):
        remark(summary(difference, found, beside))


def _status(found: tuple[Finding, ...], fail_on: Literal["breaking", "look", "opens", "any", "never"]) -> int:
    if fail_on == "never":
        return 0
    bar = VERDICTS.index("compatible" if fail_on == "any" else fail_on)
    return 1 if any(VERDICTS.index(each.verdict) <= bar for each in found) else 0
