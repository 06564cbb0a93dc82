"""Regular expressions that are compiled when something is first asked of them, as `frozen` makes classes.

Most of those that a command loads look for what somebody may have meant, and a contract that is as it should be asks
none of them: compiling all was a twentieth of `ninefold check`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as compile
else:

    def compile(pattern: str | bytes, flags: int = 0) -> _Pattern:
        """As `re.compile`. What it gives has the methods of a pattern, and is none to `re.sub` and the like."""
        return _Pattern(pattern, flags)


class _Pattern:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(_compile(self._pattern, self._flags), name)
        setattr(self, name, value)  # where it is found at once, the next time
        return value


_compile = re.compile
_MEANWHILE = ContextVar("_MEANWHILE", default=False)
"""Whether this thread imports what `when_asked` is for."""


@contextmanager
def when_asked() -> Iterator[None]:
    """Patterns of what this thread imports meanwhile are compiled when something is first asked of them, too. It is for
    libraries that ask them by their methods alone."""

    def compile(pattern: Any, flags: int = 0) -> Any:
        is_meant = _MEANWHILE.get() and not isinstance(pattern, re.Pattern)
        return _Pattern(pattern, flags) if is_meant else _compile(pattern, flags)

    re.compile, before = compile, _MEANWHILE.set(True)
    try:
        yield
    finally:
        _MEANWHILE.reset(before)
        re.compile = _compile
