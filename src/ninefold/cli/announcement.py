"""What `serve` says before it serves: what is served, what is not, and why. Nothing is passed over in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from textwrap import wrap
from typing import assert_never

from ninefold.cli.terminal import width
from ninefold.diagnostics.render import visible
from ninefold.plan.routes import Blocked, Route, Served
from ninefold.plan.service import OperatorValue, ServicePlan

COLOURS = {"served": 32, "blocked": 33}
"""Green and yellow (ECMA-48, 8.3.117)."""

LEAST = 20
"""Columns of what is said of an endpoint, however long the others are."""


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # paths are seldom of other letters

    return cell_len(text)


def endpoints(plan: ServicePlan, given: Collection[str], colour: bool, functions: Collection[str] = frozenset()) -> str:
    """A table in the contract's order: each endpoint as written, who may call it, or what blocks it. `given`: names
    of operator values; `functions`: of functions."""
    rows = list[tuple[str, str, str]]()
    for route in sorted(plan.routes, key=lambda route: route.trace[:1]):
        reasons = blocked_by(plan, route, given, functions)
        words = "answers 501: " + "; ".join(reasons) if reasons else _callers(plan, route)
        rows.append(("blocked" if reasons else "served", visible(route.key), visible(words)))
    state_width, key_width = (max((_columns(row[column]) for row in rows), default=0) for column in (0, 1))
    left = state_width + key_width + 4
    lines = list[str]()
    for state, key, words in rows:
        head = f"\x1b[{COLOURS[state]}m{state}\x1b[0m" if colour else state
        key = " " * (state_width - len(state)) + f"  {key}" + " " * (key_width - _columns(key))
        first, *rest = wrap(words, max(width() - left, LEAST), break_on_hyphens=False) or [""]
        lines += [f"{head}{key}  {first}".rstrip(), *(" " * left + each for each in rest)]
    return "\n".join(lines)


def blocked_by(
    plan: ServicePlan, route: Route, given: Collection[str], functions: Collection[str] = frozenset()
) -> tuple[str, ...]:
    """Why a route answers 501; nothing if it is served."""
    missing = tuple(
        f"operator.{value.name} is not given (--set {value.name}=VALUE)"
        for value in plan.operator
        if value.name not in given and route.key in value.blocks
    )
    missing += tuple(
        f"the function {name} is not given (--functions MODULE)"
        for name, (_, keys) in plan.calls().items()
        if name not in functions and route.key in keys
    )
    match route:
        case Blocked(reasons=reasons):
            return (*reasons, *missing)
        case Served():
            return missing
        case _:
            assert_never(route)


def _callers(plan: ServicePlan, route: Route) -> str:
    """Who may call a served route, as this build can tell. A scheme that is not in force accepts no credential."""
    if not isinstance(route, Served):
        return ""
    accepted = {"anyone", *(scheme.scheme for scheme in plan.schemes if scheme.in_force)}
    admitted = list(dict.fromkeys(admission.who for admission in route.admissions if admission.who in accepted))
    others = [name for name in route.schemes if name not in accepted]
    words = ", ".join(admitted) or "refuses every caller"
    return words + (f" (no credential of {', '.join(others)} is accepted yet)" if others else "")


def remarks(
    plan: ServicePlan,
    given: Collection[str],
    source: str,
    takes_certificates: bool = False,
    functions: Collection[str] = frozenset(),
) -> Iterator[str]:
    """The paragraphs under the table: operator values, what is not in force, what is left out. `takes_certificates`:
    the service's port asks clients for theirs."""
    yield from _list("Older versions", list(_older(plan)))
    missing = [value for value in plan.operator if value.name not in given]
    unasked = [] if takes_certificates else [each for each in plan.schemes if each.where == "certificate"]
    yield from _list(
        "Not given by the operator",
        [f"operator.{value.name}: {_cost(value)}; --set {value.name}=VALUE gives it" for value in missing]
        + [
            f"the authorities of {each.scheme}: no certificate is taken, and no such caller known; "
            "--certificate FILE --key FILE --client-ca FILE gives them"
            for each in unasked
        ]
        + [
            f"the function {name}: blocks {', '.join(keys)}; --functions MODULE_OR_FILE says where it is"
            for name, (_, keys) in plan.calls().items()
            if name not in functions
        ],
    )
    yield from _list(
        "Stated, and not in force in this build",
        [
            f"{source}:{each.place.line}:{each.place.column}: {each.what}: {each.consequence}"
            for each in plan.not_in_force
        ],
    )
    yield from _list(
        "In force only because proposals are accepted",
        [f"{source}:{each.place.line}:{each.place.column}: {each.path}" for each in plan.proposals],
    )
    yield from _list("Left out, because the contract does not show it", plan.gaps)


def _older(plan: ServicePlan) -> Iterator[str]:
    """The versions beside the newest, whose endpoints the table holds."""
    versions = plan.versions
    for each in () if versions is None else versions.versions:
        if versions is None or each.name == versions.current:
            continue
        served = sum(isinstance(route, Served) for route in each.routes)
        words = [f"{served} endpoints" if each.served else "not served: the way back to it is not shown"]
        words += ["the default"] if each.name == versions.default else []
        words += [f"{key} {date}" for key in ("deprecated", "sunset") if (date := each.text(key)) is not None]
        if each.retired is not None:
            words.append(f"retired {datetime.fromtimestamp(each.retired, UTC).date().isoformat()}")
        yield f"{each.name}: {', '.join(words)}"


def _cost(value: OperatorValue) -> str:
    """What is not there as long as an operator value is not given."""
    return "blocks " + (", ".join(value.blocks) or "no endpoint")


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join([title + ":", *("  " + visible(line) for line in lines)])
