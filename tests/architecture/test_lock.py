"""The lock is in step with pyproject.toml, names no registry, and pins by hash (decisions/0002)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "requirements-test.txt")}

SERVICE = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]
EXTRAS = PROJECT["project"]["optional-dependencies"]


def wanted(extra: str) -> list[str]:
    """What an extra asks for; of the project itself, its other extras."""
    own = [Requirement(each) for each in EXTRAS[extra]]
    return [
        each
        for one in own
        for each in (
            [str(one)]
            if one.name != PROJECT["project"]["name"]
            else [found for more in sorted(one.extras) for found in wanted(more)]
        )
    ]


TESTS = [*SERVICE, *wanted("test")]


def pins(lock: str) -> dict[str, str]:
    """Each package's version, under its normalised name."""
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE)}


@pytest.mark.parametrize(("name", "asked"), [("requirements.txt", SERVICE), ("requirements-test.txt", TESTS)])
def test_every_requirement_is_pinned_to_a_version_that_it_admits(name: str, asked: list[str]) -> None:
    pinned = pins(LOCKS[name])
    for requirement in map(Requirement, asked):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in {name}: run `make lock`"
        assert version in requirement.specifier, f"{name} has {requirement.name} {version}: run `make lock`"


def test_the_tests_run_on_what_is_served() -> None:
    assert pins(LOCKS["requirements.txt"]).items() <= pins(LOCKS["requirements-test.txt"]).items()


def test_the_backend_in_the_lock_is_the_one_that_builds() -> None:
    assert PROJECT["build-system"]["requires"] == PROJECT["dependency-groups"]["build"]


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_a_hash_and_no_line_an_address(name: str) -> None:
    for entry in re.split(r"\n(?=\S)", LOCKS[name].strip()):
        if not entry.startswith("#"):
            assert re.match(r"[\w.-]+==\S+( ; [^\n]+)? \\\n +--hash=sha256:", entry), entry
    assert "://" not in LOCKS[name] and not re.search(r"^\s*-(?!-hash)", LOCKS[name], re.MULTILINE)
