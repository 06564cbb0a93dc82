"""Whether a row that is known before it is made is what the write's own statement gives, where that is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from ninefold.runtime.operations.read import Call
from ninefold.runtime.operations.write import Write
from ninefold.runtime.store.protocol import Conflicting, Row, Single
from ninefold.runtime.store.writer import Transaction


@contextmanager
def compared() -> Iterator[list[tuple[Row | None, list[Row]]]]:
    """Of each row that is made meanwhile, and of each that is refused: what was known of it (None: it was refused), and
    what its statement gives. Both are undone, and then it is done as ever."""
    found: list[tuple[Row | None, list[Row]]] = []
    touch, plainly = Write._touch, Single.plainly

    def compare(write: Write, session: Any, call: Call) -> None:
        if write._plainly is None or call.unfit or not isinstance(session, Transaction):
            return
        session._execute("SAVEPOINT known")
        known = write._plainly.stored(session, call.env)
        session._execute("ROLLBACK TO known")
        try:
            own = write._unbound(call)
            given = session.run(own.text, own.binds(call.env))
        except Conflicting:
            given = []
        session._execute("ROLLBACK TO known")
        session._execute("RELEASE known")
        found.append((known, given))

    def touched(write: Write, session: Any, call: Call) -> Any:
        compare(write, session, call)
        return touch(write, session, call)

    def done(single: Single, session: Any) -> Any:
        work: Any = single.work
        assert isinstance(work, partial)
        compare(work.func.__self__, session, *work.args)  # type: ignore[attr-defined]
        return plainly(single, session)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Write, "_touch", touched)
        patch.setattr(Single, "plainly", done)
        yield found


def different(found: list[tuple[Row | None, list[Row]]]) -> list[str]:
    """Where they are not the same, to the type of each value."""
    return [
        f"{known!r} was known, and {given!r} given"
        for known, given in found
        if repr(given) != repr([] if known is None else [known])
    ]
