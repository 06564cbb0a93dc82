"""The servers that a URL names, of which one is the primary: which of them a connection is made to.

`postgresql://USER@HOST:PORT,HOST:PORT/NAME`, or `?host=HOST,HOST&port=PORT,PORT` (libpq, "Specifying Multiple Hosts").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ssl import SSLCertVerificationError
from time import monotonic_ns
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from asyncpg import exceptions

from ninefold.runtime.addresses import shown
from ninefold.runtime.sources import Followed
from ninefold.runtime.store.postgresql_link import CONNECTING_SECONDS, Kind, Link, Lost, words
from ninefold.runtime.store.postgresql_settings import of_session

TIMELINE: Final = "('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int"
"""A number that each promotion makes greater."""

CLOCK: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""Microseconds since 1970."""


class Servers:
    """The servers of a URL, as one process knows them. `name`: the URL without what is secret. `timeline`: the newest
    that was seen; a primary of an older one was replaced, and has come back. `clock`: theirs."""

    def __init__(self, url: str, kind: Kind = "primary", pooled: bool = False) -> None:
        """`kind`: of those to which connections are made. `pooled`: a pooler stands before them."""
        self._kind = kind
        self._pooled = pooled
        self.name = shown(url)
        try:
            self._urls = _apart(url)
        except ValueError:
            # What is wrong with it the driver says, where a connection is made.
            self._urls = [url]
        self._first = 0
        """The one that was the primary when it was last asked: what does not answer is waited for once, and not each
        time."""
        self.timeline = 0
        self.clock: Final = Followed()

    async def open(self, bounds: Mapping[str, str] = MappingProxyType({})) -> Link:
        """A connection to one of them, each of which has its time to answer. `bounds`: as of a `Link`. Raises Lost."""
        failed: dict[int, Lost] = {}
        first, count = self._first, len(self._urls)
        for number in (each % count for each in range(first, first + count)):
            try:
                link = await self._open(self._urls[number], bounds)
            except Lost as error:
                failed[number] = error
            else:
                self._first = number
                return link
        if count == 1:
            raise failed[0]
        raise Lost("; ".join(f"{_host(self._urls[number])}: {why(failed[number])}" for number in sorted(failed)))

    async def _open(self, url: str, bounds: Mapping[str, str]) -> Link:
        link = await Link.open(url, bounds, self._kind, self._pooled)
        if self._kind == "standby":
            return link
        try:
            async with link.within(CONNECTING_SECONDS):
                timeline = int(await link.value(f"SELECT {TIMELINE}"))
                await self.look_at_clock(link)
        except exceptions.PostgresError as error:
            link.drop()
            raise Lost(words(error)) from error
        except BaseException:
            link.drop()
            raise
        self.seen(link, timeline)
        return link

    async def look_at_clock(self, link: Link) -> None:
        """What is taken for the time is the server's. Raises what a `Link` does."""
        since = monotonic_ns()
        self.clock.showed(1000 * int(await link.value(CLOCK)), since)

    def seen(self, link: Link, timeline: int) -> None:
        """A connection has led to a server on a timeline. Raises Lost."""
        if timeline < self.timeline:
            link.drop()
            raise Lost("another server was promoted in its place")
        self.timeline = timeline


def why(error: Exception) -> str:
    """Why a database cannot be used, for the operator."""
    match found := error.__cause__ if isinstance(error, Lost) else error:
        case exceptions.InvalidCatalogNameError():
            return "there is no such database"
        case exceptions.InvalidAuthorizationSpecificationError():
            return "the user and password are not taken"
        case exceptions.PostgresError() if (name := _not_taken(found)) is not None:
            if name in of_session({}):
                return "a pooler stands before it: `serve` has --pooled, and all else is for PostgreSQL itself"
            return f"a parameter of its URL is not taken: {name}"
        case exceptions.InsufficientPrivilegeError():
            return "the user may not make tables in it"
        case exceptions.InvalidSchemaNameError():
            return "its search_path names no schema that is there"
        case ValueError() if not isinstance(found, SSLCertVerificationError):
            return "its URL cannot be read, or a file that it names"
        case _:
            return words(error)


_NOT_TAKEN: Final = (
    exceptions.CantChangeRuntimeParamError,
    exceptions.InvalidParameterValueError,
    exceptions.UndefinedObjectError,
)

_NAMED: Final = re.compile(r"[\"'«»„“:]\s*(\w+)")
"""What a message names first, in whichever language."""


def _not_taken(error: exceptions.PostgresError) -> str | None:
    """The setting with which a connection was to begin, and may not: one of ours behind a pooler, or what the driver
    has made of a parameter of the URL. None: it was not for that."""
    if isinstance(error, exceptions.ProtocolViolationError):  # whatever PgBouncer says
        is_for_that = "startup parameter" in str(error)
    else:
        is_for_that = isinstance(error, _NOT_TAKEN) and error.severity_en == "FATAL"
    found = _NAMED.search(str(error)) if is_for_that else None
    return None if found is None else found[1]


def _apart(url: str) -> list[str]:
    """A URL for each server, in their order. Raises ValueError."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    if hosts:
        return [parts._replace(netloc=user + at + each).geturl() for each in hosts.split(",")]
    asked = dict(parse_qsl(parts.query))
    named = asked.get("host", "").split(",")
    if len(named) == 1:
        return [url]
    ports = asked["port"].split(",") if "port" in asked else []
    if len(ports) == 1:
        ports *= len(named)
    each = [{"host": host} for host in named]
    if ports:
        each = [{"host": host, "port": port} for host, port in zip(named, ports, strict=True)]
    return [parts._replace(query=urlencode(asked | own)).geturl() for own in each]


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or dict(parse_qsl(parts.query)).get("host", "")
