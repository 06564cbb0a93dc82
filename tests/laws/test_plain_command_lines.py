"""A command line that is read plainly is read as cyclopts reads it, and the usual ones are plain."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.cli.application import application
from ninefold.cli.commands import COMMANDS, plainly

VALUES = [
    "contract.md",
    "a b",
    "3",
    "0",
    "-3",
    "12345678901",
    "1.5",
    "x=1",
    "",
    "-",
    "--",
    "é",
    "3 ",
    "GET /orders",
    "TEXT",
]


def command(name: str) -> Callable[..., Any]:
    made: Callable[..., Any] = getattr(import_module(f"ninefold.cli.{COMMANDS[name].module}"), name)
    return made


def words_of(name: str) -> list[str]:
    """The options of a command in several spellings, and the words that they may have."""
    found = ["--help", "-h", "--no-such"]
    for parameter, hint in get_type_hints(command(name)).items():
        option = "--" + parameter.replace("_", "-")
        found += [option, f"{option}=3", f"{option}=text", f"{option}=", option.upper(), f"--no-{option[2:]}"]
        found += [str(word) for word in get_args(hint) if get_origin(hint) is Literal]
    return [*found, "--set", "--set=a=b", "--from", "--for", "--version", "--overlap-hours"]


def as_called(name: str, plain: tuple[list[Any], dict[str, Any]]) -> dict[str, Any]:
    given, named = plain
    bound = inspect.signature(command(name)).bind(*given, **named)
    bound.apply_defaults()
    return {key: listed(value) for key, value in bound.arguments.items()}


def listed(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


def as_cyclopts_has_it(name: str, tokens: list[str]) -> dict[str, Any]:
    _, bound, _ = application(name).parse_args([name, *tokens], print_error=False, exit_on_error=False)
    bound.apply_defaults()
    return {key: listed(value) for key, value in bound.arguments.items()}


@given(st.data())
def test_what_is_plain_is_what_cyclopts_reads(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(COMMANDS)))
    tokens = data.draw(st.lists(st.sampled_from([*VALUES, *words_of(name)]), max_size=6))
    plain = plainly(command(name), tokens)
    if plain is not None:
        assert as_called(name, plain) == as_cyclopts_has_it(name, tokens)


EXAMPLES = [
    (name, line)
    for name in COMMANDS
    for line in re.findall(rf"^ +ninefold {name} (.+)$", command(name).__doc__ or "", re.MULTILINE)
]


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_the_examples_of_the_commands_are_plain(name: str, line: str) -> None:
    tokens = shlex.split(re.split(r"(?:^| )[|>] ", line)[0])
    plain = plainly(command(name), tokens)
    assert plain is not None
    assert as_called(name, plain) == as_cyclopts_has_it(name, tokens)
