"""The reference set-up: what it names exists."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.core import Metric
from tests.docs.reader import ROOT
from tests.postgresql.test_service import planned

from ninefold.cli.commands import plainly
from ninefold.cli.serve import serve
from ninefold.runtime.operator import exposition
from ninefold.runtime.operator.metrics import Metrics
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened, Pool, Standing

DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "operating.md"


# ── The dashboard ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def told(tmp_path: Path) -> set[str]:
    """The names of all metrics, as Prometheus has them."""
    opened = open_database(str(tmp_path / "a.db"), planned(ROOT / "examples" / "orders.md"))
    assert isinstance(opened, Opened)
    metrics = Metrics(opened.database)
    metrics.readers = 1
    families = [*exposition._Told(metrics).collect(), *exposition._of_replica(Standing(True, 1.0, 1, 1, 1))]
    families += exposition._of_pool(Pool(1, 1, 1, 1, 1.0))
    opened.database.close()
    return {name for each in families for name in _named(each)}


def _named(family: Metric) -> list[str]:
    ends = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
    return [family.name + each for each in ends]


def test_the_dashboard_shows_all_metrics_and_no_others(told: set[str]) -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert {name for each in asked for name in re.findall(r"ninefold_\w+", each)} == told
    assert all('job="$job"' in part for each in asked for part in re.findall(r"ninefold_\w+\{[^}]*\}", each))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in dashboard["panels"]})


def test_the_page_tells_of_all_metrics(told: set[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"ninefold_\w+", page))
    whole = {re.sub("_(bucket|sum|count)$", "", each) if "seconds_" in each else each for each in told}
    assert named >= whole and not {each for each in named - whole if not each.startswith("ninefold_requests")}


# ── What is started ───────────────────────────────────────────────────────────────────────────────────────────────


def commands() -> Iterator[tuple[str, list[str]]]:
    """Of each file what is started, behind `ninefold serve`."""
    for path in (*sorted(DEPLOY.glob("*.service")), PAGE):
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE):
            yield path.name, shlex.split(line)
    for name, each in _services().items():
        command = each.get("command", [])
        if "serve" in command[:2]:
            yield f"compose.yaml: {name}", command


def _services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


def test_each_command_is_one_that_serve_takes() -> None:
    found = [*commands()]
    assert len(found) >= 4
    for where, words in found:
        assert words[0].endswith("ninefold") and words[1] == "serve", where
        assert plainly(serve, words[2:]) is not None, (where, words)


def test_what_is_named_in_the_compose_file_is_there() -> None:
    text, services = (DEPLOY / "compose.yaml").read_text(encoding="utf-8"), _services()
    whole = yaml.safe_load(text)
    for name, each in services.items():
        assert set(each.get("depends_on", ())) <= services.keys(), name
        for volume in each.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in whole["volumes"], volume
    for host in re.findall(r"@([\w.-]+(?::\d+)?(?:,[\w.-]+(?::\d+)?)*)/", text):
        assert {each.partition(":")[0] for each in host.split(",")} <= services.keys(), host
    balancer = (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8")
    assert set(re.findall(r"^ +server \w+ ([\w-]+):", balancer, re.MULTILINE)) <= services.keys()
