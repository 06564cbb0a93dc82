"""Patterns of `re` mean the same in every Python. The first releases of Python 3.11 (Debian 12 has 3.11.2) match
wrongly what is more than one character and repeated possessively, or atomic
(https://github.com/python/cpython/issues/106052)."""

from __future__ import annotations

import pkgutil
import re
import re._constants as opcodes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import ninefold
from ninefold.runtime.http.framing import Requests
from ninefold.runtime.http.known import Known
from ninefold.runtime.messages import forms
from ninefold.runtime.request.idempotency import read_key


def misread(parsed: Any) -> Iterator[str]:
    """What a pattern has of these."""
    for code, value in parsed:
        if code is opcodes.ATOMIC_GROUP:
            yield "an atomic group"
        elif code is opcodes.POSSESSIVE_REPEAT and (len(value[2]) != 1 or value[2][0][0] not in SINGLE):
            yield "a possessive repetition of more than one character"
        for part in value if isinstance(value, tuple) else (value,):
            for each in part if code is opcodes.BRANCH and isinstance(part, list) else (part,):
                if isinstance(each, parser.SubPattern):
                    yield from misread(each)


SINGLE = {opcodes.LITERAL, opcodes.NOT_LITERAL, opcodes.IN, opcodes.ANY}


def test_no_pattern_is_misread_by_an_early_python() -> None:
    found = {}
    for module in pkgutil.walk_packages(ninefold.__path__, "ninefold."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(import_module(module.name)).items():
            pattern = getattr(value, "__self__", value)  # also of `re.compile(…).fullmatch`
            if isinstance(pattern, re.Pattern):
                found[f"{module.name}.{name}"] = sorted(set(misread(parser.parse(pattern.pattern, pattern.flags))))
    assert len(found) > 50
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize("pattern", [r"(?:ab?c)*+", r"x(?:(?>a+)b|c)", r"(?:[a-z]++|,)++", r"((?:ab|c){2}+)?"])
def test_the_law_finds_them(pattern: str) -> None:
    assert list(misread(parser.parse(pattern, 0)))


def test_such_as_were_there_are_read_as_they_stand() -> None:
    head = b"GET /a%2Fb HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer b\r\n\r\n"
    assert Requests(Known()).whole(head) is not None
    assert dict(forms.parse(b"a=%41%4")) == {"a": "A%4"}
    assert read_key(r'"a\"b\\"') == ('a"b' + "\\", None)
