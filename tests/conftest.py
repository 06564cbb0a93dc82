"""How the whole suite runs. Hypothesis: under CI the same examples every time, and a failure prints the line
that repeats it; otherwise new examples each time. Neither has a deadline: machines differ.

No test asks anybody on the internet. Without certificates of its own every client of httpx would read those of the
whole world, which takes a tenth of a second each time; those for whom TLS is tested name the certificates they trust.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import httpx
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from tests import hashes, refusals_met
from tests.slices import LONG, SLICE, dear_first, examples, is_of_the_slice, is_taken

from ninefold.runtime.http import protocol

settings.register_profile(
    "default", deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# A client keeps a connection for less time than the service does (5 seconds, which is httpx's own, too): who sends over
# one in the moment in which it ends has no answer, on a machine that has much to do. Services that run in the process
# of the tests keep it for longer than any machine is held up.
httpx._config.DEFAULT_LIMITS.keepalive_expiry = 1.0
(httpx.Limits.__init__.__kwdefaults__ or {})["keepalive_expiry"] = 1.0
protocol.IDLE_SECONDS = 120.0

# Where the run outlives its terminal (nohup) it ignores SIGHUP, and so would each service that a test tells to take its
# contract anew.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What tests write outlives no machine, and to flush it to a disk takes as long as thirty writes: where memory can be
# written to as files are, has room, and runs programs, all of it goes there. Whoever sets TMPDIR says where else. Not
# in the long run, which makes more databases than memory holds.
MEMORY: Final = Path("/dev/shm")
ROOM: Final = 4 << 30
"""Bytes: the databases of PostgreSQL that a run makes take one GiB together."""


def _is_fit(place: Path) -> bool:
    if not os.access(place, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & getattr(os, "ST_NOEXEC", 0)


if not LONG and "TMPDIR" not in os.environ and _is_fit(MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


def pytest_xdist_auto_num_workers() -> int:
    """Four for each core, as long as they are few: most of the time a test waits for a process, a socket or a clock,
    and others go on meanwhile (decisions 0130 and 0202). Two for a slice of the long run, which has so few that to look
    for them once more costs more than to wait."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for_each = 2 if LONG and SLICE is not None else 4
    return max(min(for_each * cores, 16), cores)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is collected is there until the run ends: Python need not look through it whenever it looks for garbage. For
    that it looks seldom: what tests make is mostly kept by what they share, or gone without."""
    gc.set_threshold(20_000, 20, 20)
    gc.disable()
    try:
        _import_a_part(session.config)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def _import_a_part(config: pytest.Config) -> None:
    """In a fresh clone the assertions of all modules are rewritten, which takes twice as long as all else of the
    collection. Each worker begins with modules of its own, so that none does what others do in the same moment."""
    if (worker := os.environ.get("PYTEST_XDIST_WORKER")) is None:
        return
    apart = set(config.getini("norecursedirs"))
    folders = [config.rootpath / each for each in config.args]
    modules = sorted(path.relative_to(config.rootpath) for each in folders for path in each.rglob("test_*.py"))
    first, workers = int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in [each for each in modules if apart.isdisjoint(each.parts)][first::workers]:
        with suppress(Exception, pytest.skip.Exception):  # it is told of where it is collected
            importlib.import_module(".".join(path.with_suffix("").parts))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Dear tests take turns. In the long run all go by slices, also the laws that Hypothesis tries."""
    items[:] = [item for item in items if is_taken(item.nodeid) and (not LONG or is_of_the_slice(item.nodeid))]
    for item in items if LONG else ():
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.long)
    if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
        items[:] = dear_first(items, [item.nodeid for item in items], workers)


refusals_met.install()
hashes.make_cheap()


@pytest.fixture
def hashes_that_cost() -> Iterator[None]:
    with hashes.in_earnest():
        yield


@pytest.fixture(autouse=True)
def refusals_are_derived() -> Iterator[None]:
    """Each refusal that a request of a test meets is one that was said of its endpoint."""
    yield
    assert refusals_met.offenders() == []
