"""The settings of a session in PostgreSQL, or of a transaction, where no session is ours: how long something may take
the contract says, and whoever opens a connection, but not what the database or its user has for others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.sql.fragment import literal

OWN: Final = {
    # A snapshot is a statement's: whoever has waited for a lock sees what was done before.
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    # A number that becomes text keeps all its digits.
    "extra_float_digits": "1",
}
"""Those without which a service answers otherwise."""

_AS_GOOD: Final[Mapping[str, Callable[[str], bool]]] = {
    "extra_float_digits": lambda found: int(found) >= int(OWN["extra_float_digits"]),
    "synchronous_commit": lambda found: found != "off",
}
"""Of which of them more will do as well. The last one a session is told where it has less (`_DURABLE`)."""

_DURABLE: Final = "set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
"""What is answered has to be durable; a stronger word of the database or its user is left to it."""

POOLED: Final = {"application_name": "ninefold", "standard_conforming_strings": "on"}
"""What PgBouncer knows; a name of each process's own it would have to set whenever another has its turn."""

_AS_LONG_AS_IT_TAKES: Final = {
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}

_UNLESS_SAID: Final = {"jit": "off"}
"""What an operator may say otherwise in the URL. What a statement costs is guessed, high where it goes through an array
of a request, and to compile it takes seconds where to run it takes milliseconds."""

_LATER: Final = "transaction_timeout = 0"
"""What a session is told once it has begun: to begin with it is an error before PostgreSQL 17."""

_CUTTING: Final = ("lock_timeout", "statement_timeout", "transaction_timeout")
"""Those that end a statement that is a transaction by itself, of which a pooled connection can say nothing before."""


def of_session(bounds: Mapping[str, str], url: str = "") -> dict[str, str]:
    name, said = f"ninefold {os.getpid()}", dict(parse_qsl(urlsplit(url).query))
    own = {**OWN, **_AS_LONG_AS_IT_TAKES, "idle_session_timeout": "0"}
    unsaid = {each: value for each, value in _UNLESS_SAID.items() if each not in said}
    return {**POOLED, "application_name": name, **unsaid, **own, **bounds}


async def set_later(connection: Any, seconds: float) -> None:
    """What of a session's settings is not said as it begins. What does not answer for so long is ended."""
    later = f"SET {_LATER}; " if _has_later(connection) else ""
    try:
        await connection.execute(f"{later}SELECT {_DURABLE}", timeout=seconds)
    except BaseException:
        connection.terminate()
        raise


def of_transaction(bounds: Mapping[str, str], connection: Any) -> str:
    """What follows its beginning."""
    said = {**_UNLESS_SAID, **_AS_LONG_AS_IT_TAKES, **bounds}
    own = (f"{name} = {literal(value)}" for name, value in said.items())
    return "".join(f"; SET LOCAL {each}" for each in (*own, *((_LATER,) if _has_later(connection) else ())))


def _has_later(connection: Any) -> bool:
    return bool(connection.get_server_version().major >= 17)


def unfit(ask: Ask, pooled: bool) -> tuple[str, str, str] | None:
    """A setting of a session with which a service answers otherwise, what it is, and what it has to be. A session of
    ours has its own; behind a pooler there is none, and what is asked is beside those of the transaction."""
    wanted = {**OWN, "synchronous_commit": "on", **dict.fromkeys(_CUTTING if pooled else (), "0")}
    found_by = f"SELECT name, {'reset_val' if pooled else 'setting'}, coalesce(unit, '') FROM pg_settings"
    for name, found, unit in ask(f"{found_by} WHERE name = ANY($1)", [*wanted]):
        is_as_good = _AS_GOOD.get(name)
        if found != wanted[name] and not (is_as_good is not None and is_as_good(found)):
            return name, found + unit, wanted[name]
    return None
