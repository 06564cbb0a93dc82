"""A version that goes on as it was breaks nobody whom it serves; where somebody is served by another one, it does."""

from __future__ import annotations

from typing import Final

import pytest
from tests.parts import contract

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.diff.finding import Finding
from ninefold.diff.report import promised, to_json
from ninefold.pipeline import compile_document

ROOMS: Final = contract(
    """room:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, beds: {type: integer}, view: {type: string}}
""",
    "POST /rooms: {does: create room, body: [beds, view], responses: {201: room}}\n"
    "GET /rooms/{id}: {does: read room, responses: {200: room}}\n",
    events="kinds:\n  room.made: {upon: create room, payload: {room: room}}\n"
    "delivery: {stream: server-sent events}\nkept: P1D",
)
NEWER: Final = ROOMS.replace("view: {type: string}", "sight: {type: string}").replace("[beds, view]", "[beds, sight]")
WAY: Final = "{rename: room.sight, to: view}"
PIN: Final = "\"request.headers.X == 'a' ? '1' : '0'\""
NONE: Final = "none of them"
ZERO: Final = '  "0": {changes: [{remove: room.beds}]}\n'


def versions(text: str, default: str, said: str) -> str:
    if default == NONE:
        return text
    before, _, _ = text.partition("## 9. Versioning")
    return (
        f"{before}## 9. Versioning\n\n```yaml\nin: header\nname: Api-Version\ndefault: {default}\nversions:\n{said}"
        "compatible: none\n```\n"
    )


def found(old: str, new: str) -> tuple[Finding, list[str], dict[str, object]]:
    """What is told of the field."""
    was, now = (compile_document(f"{name}.md", text.encode()) for name, text in (("old", old), ("new", new)))
    for each in (was, now):
        assert each.plan is not None and not has_errors(each.diagnostics), [one.message for one in each.diagnostics]
    difference = diff(was, now)
    [of] = [each for each in difference.findings if "> view`" in each.said]
    return of, [*promised(difference, of)], to_json(difference, of)


def broken(of: Finding) -> set[str]:
    return {each.audience for each in of.effects if each.verdict == "breaking"}


def newer(default: str, way: str = WAY, dates: str = "", more: str = "") -> str:
    return versions(NEWER, default, f'  "2": {{}}\n  "1": {{{dates}changes: [{way}]}}\n{more}')


CALLERS: Final = {"senders", "readers", "receivers"}


@pytest.mark.parametrize(
    ("was", "now", "whom"),
    [
        ('"1"', newer('"1"'), set()),
        ('"1"', newer('"2"'), CALLERS),  # who names none meets the newest
        ('"1"', newer("none"), set()),  # and is refused: the line says so
        ("none", newer("none"), set()),
        ("none", newer('"2"'), set()),  # and was refused
        (NONE, newer('"1"'), set()),
        (NONE, newer('"2"'), CALLERS),
        ('"1"', newer('"1"', dates="retired: 2030-01-01, "), CALLERS),
        ('"1"', newer('"1"', dates="sunset: 2030-01-01, "), CALLERS),
        (NONE, newer('"1"', dates="deprecated: 2030-01-01, "), CALLERS),
        ('"1"', newer('"1"').replace("name: Api-Version", "name: Version"), CALLERS),
        ('"1"', newer('"1"', f"{WAY}, {{rename: room.beds, to: places}}"), CALLERS),
        ('"1"', versions(NEWER, '"2"', '  "2": {}\n'), CALLERS),
        ('"1"', versions(NEWER, '"1"', '  "1": {}\n'), CALLERS),
    ],
)
def test_whom_a_version_that_is_kept_breaks(was: str, now: str, whom: set[str]) -> None:
    of, said, told = found(versions(ROOMS, was, '  "1": {}\n'), now)
    assert broken(of) == whom
    assert (of.kept is not None) == (not whom or told["kept_by_version"] is not None)
    by_default = any("and for who names no version" in each for each in said)
    assert by_default == told["kept_by_default"] == (of.kept == "1" and 'default: "1"' in now)


@pytest.mark.parametrize(
    ("was", "now", "more", "whom"),
    [
        ('"0"', '"0"', ZERO, set()),
        ('"0"', '"1"', ZERO, set()),
        ('"1"', '"0"', ZERO, set()),
        (PIN, PIN, ZERO, set()),
        (PIN, PIN.replace("'a'", "'b'"), ZERO, CALLERS),
        ('"1"', '"1"', ZERO.replace("room.beds", "room.view"), CALLERS),  # an older one is another
    ],
)
def test_who_is_served_by_an_older_version_counts(was: str, now: str, more: str, whom: set[str]) -> None:
    of, _, _ = found(versions(ROOMS, was, f'  "1": {{}}\n{ZERO}'), newer(now, more=more))
    assert broken(of) == whom


HOOKS: Final = """delivery:
  stream: server-sent events
  webhooks: {to: subscription, signature: standard-webhooks, attempts: 2, backoff: [PT1M]}"""


@pytest.mark.parametrize(("default", "whom"), [('"1"', set()), ("none", {"receivers"})])
def test_a_subscription_of_before_there_were_versions_is_of_the_default(default: str, whom: set[str]) -> None:
    """Where that is nobody's version, it is told as the newest has it."""
    texts = versions(ROOMS, default, '  "1": {}\n'), newer(default)
    of, _, _ = found(*(each.replace("delivery: {stream: server-sent events}", HOOKS) for each in texts))
    assert broken(of) == whom
