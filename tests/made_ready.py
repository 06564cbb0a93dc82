"""Whether what is made ready for the members of a body reads them, and makes the values of a row of them, as it is done
one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import Any, TypeAlias

import pytest

from ninefold.expressions.evaluate import SOURCES, Sources
from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.operations.values import Values, Way

Pair: TypeAlias = tuple[object, object]


@contextmanager
def compared() -> Iterator[list[Pair]]:
    """Of each body that is read meanwhile, and of each row whose values are made: what comes by what is made ready, and
    what comes one by one."""
    found: list[Pair] = []
    valid, surely = Body.valid, Values._surely

    def read(body: Body, document: Any, *told: Any, **more: Any) -> Any:
        one_by_one = copy(body)
        one_by_one._plain = None
        again = valid(one_by_one, deepcopy(document), *told, **more)
        given = valid(body, document, *told, **more)
        found.append((_of_body(given), _of_body(again)))
        return given

    def of(values: Values, *told: Any) -> Way:
        way = surely(values, *told)

        def made(env: Environment, body: dict[str, Any], current: Mapping[str, Any]) -> Any:
            drawn = list[bytes]()
            own: Any = {**env, SOURCES: _drawing(env, drawn.append)}
            came = values._one_by_one(own, dict(body), current)
            once_more: Any = {**env, SOURCES: Sources(lambda size: drawn.pop(0))}
            made = way(once_more, body, current)
            found.append((_of_row(once_more, made), _of_row(own, came)))
            env[environment.NEW] = once_more[environment.NEW]
            return made

        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Body, "valid", read)
        patch.setattr(Values, "_surely", of)
        yield found


def _drawing(env: Any, drawn: Callable[[bytes], object]) -> Sources:
    """The random bytes of a request, which are remembered."""
    sources = env.get(SOURCES, Sources())

    def bytes_of(size: int) -> bytes:
        found: bytes = sources.random_bytes(size)
        drawn(found)
        return found

    return Sources(bytes_of)


def _of_body(given: Any) -> object:
    return given.values, given.others, given.wrong


def _of_row(env: Any, made: object) -> object:
    return sorted(env[environment.NEW].items()), env[environment.ANEW], env["issued"], made


def different(found: list[Pair]) -> list[str]:
    """Where they are not the same, to the type of each value."""
    return [f"{ready!r} was made at once, and {one!r} one by one" for ready, one in found if repr(ready) != repr(one)]
