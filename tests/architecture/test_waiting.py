"""No test sleeps for a fixed time: it waits for what comes (`tests/waiting.py`), or stands here with its reason. A
sleep that is too short fails on a slow machine, and one that is long enough costs its time on every machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TESTS: Final = ROOT / "tests"
WAITS: Final = "waiting.py"

TIME: Final = "how long something takes, or nothing comes, is what it is about"
MOMENT: Final = "something is killed or cut off at a moment that is as good as any other"
TOLD: Final = "what tests serve or send takes as long as they say"
PACED: Final = "work goes on at a pace until something else ends it"
APART: Final = "a program that looks for the end of another"

SLEEPS: Final = {
    "door/doors.py: _send": TOLD,
    "door/test_kept.py: answered_after_a_pause": TIME,
    "door/test_stop.py: test_no_client_is_cut.client": PACED,
    "door/test_untaken.py: test_who_reads_slowly_is_not_dropped": TIME,
    "events/process.py: killing.kill": MOMENT,
    "events/receiver.py: receiving.Handler.do_POST": TOLD,
    "events/test_broker.py: test_where_nothing_keeps_a_subject_the_log_waits": TIME,
    "events/test_webhooks.py: test_what_ends_while_it_is_read_what_is_due_is_not_sent_again.late": TIME,
    "faults/slow.py: File.xSync": PACED,
    "faults/test_many_events.py: test_every_event_arrives": PACED,
    "postgresql/nodes.py: Load.write": PACED,
    "postgresql/server.py: begin": APART,
    "postgresql/server.py: main": APART,
    "postgresql/test_cut.py: Relay._pass": TOLD,
    "postgresql/test_exchanged.py: test_a_node_that_gives_up_when_others_have_gone_over_goes_over_as_well": TIME,
    "postgresql/test_move.py: test_a_move_that_is_killed_goes_on_where_it_was": MOMENT,
    "postgresql/test_nodes.py: test_nothing_is_lost_or_done_twice_while_nodes_die_hang_and_lose_their_connections": MOMENT,  # noqa: E501
    "server/identity.py: served.application": TOLD,
    "server/test_beside.py: test_who_has_given_up_waiting_is_not_worked_for.both": TIME,
    "server/test_capacity.py: test_a_body_that_stalls": TIME,
    "server/test_credentials.py: test_passwords_are_verified_beside_everything_else": PACED,
    "server/test_timers.py: test_very_many_at_once": PACED,
    "server/test_timers_of_values.py: test_a_timer_waits_for_values_that_fit": TIME,
}
"""By `file: function`. The list may only get shorter."""


def sleeps(node: ast.AST, within: str) -> Iterator[str]:
    """The functions in which a test sleeps, by `file: function`. To let the loop turn is no sleep."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield from sleeps(child, f"{within}{name}.")
                continue
            case ast.Call(args=[ast.Constant(value=0)]):
                pass
            case ast.Call(func=ast.Name(id="sleep") | ast.Attribute(attr="sleep")):
                yield within.removesuffix(".")
        yield from sleeps(child, within)


def test_no_test_sleeps_for_a_fixed_time() -> None:
    found = {
        where
        for path in TESTS.rglob("*.py")
        if path.name != WAITS
        for where in sleeps(ast.parse(path.read_text(encoding="utf-8")), f"{path.relative_to(TESTS).as_posix()}: ")
    }
    assert sorted(found - SLEEPS.keys()) == [], "wait for what comes: tests/waiting.py"
    assert sorted(SLEEPS.keys() - found) == [], "it sleeps no more"


def test_no_test_waits_without_end() -> None:
    """Whatever a test waits for: the runs that `make` begins give it up after SECONDS."""
    suite = [line for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "-m pytest" in line]
    assert suite and all("--timeout $(SECONDS)" in line for line in suite)
