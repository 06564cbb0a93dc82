"""Fetching a document of another service: GET, once, within bounds.

Where it is was said by the operator or by an issuer that the operator trusts. The answer is not trusted any further:
no redirect is followed, no cookie kept, no proxy asked, and no more is read than a document of its kind is long.
"""

from __future__ import annotations

import asyncio
import re

import aiohttp

from ninefold.server.flow import Fetch, Fetched, Unreachable

SECONDS = 5.0
"""For all of it: the name, the connection, the answer."""

MOST_BYTES = 256 * 1024
"""Of a document."""

_HEADERS = {
    "user-agent": "ninefold",
    "accept": "application/json, application/jwk-set+json",
    "accept-encoding": "identity",
}


class Fetcher:
    """Fetches documents, each once at a time."""

    def __init__(self) -> None:
        self._under_way: dict[Fetch, asyncio.Task[Fetched | Unreachable]] = {}

    async def fetch(self, wanted: Fetch) -> Fetched | Unreachable:
        """One that is under way already is waited for, and goes on when whoever began it waits no more. What came
        stands until those who waited have taken it: who asks in between is told the same."""
        task = self._under_way.get(wanted)
        if task is None:
            task = self._under_way[wanted] = asyncio.create_task(_fetch(wanted.url))
            # Those who wait go on in the turn of the loop after this one; it is forgotten in the turn after that.
            loop = asyncio.get_running_loop()
            task.add_done_callback(lambda _: loop.call_soon(lambda: loop.call_soon(self._forget, wanted)))
        return await asyncio.shield(task)

    def _forget(self, wanted: Fetch) -> None:
        self._under_way.pop(wanted, None)


async def _fetch(url: str) -> Fetched | Unreachable:
    try:
        # A session for each: there is a fetch or two an hour, and nothing to be kept in between.
        async with (
            aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=SECONDS),
                auto_decompress=False,
                trust_env=False,
                headers=_HEADERS,
            ) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status != 200:
                return Unreachable(f"the answer is {response.status}")
            if response.headers.get("content-encoding", "identity") != "identity":
                return Unreachable("the answer is compressed")
            body = await _read(response.content)
            if body is None:
                return Unreachable(f"the answer is longer than {MOST_BYTES // 1024} KiB")
            return Fetched(body, kept_seconds(response.headers.getall("cache-control", [])))
    except TimeoutError:
        return Unreachable(f"no answer within {SECONDS:.0f} seconds")
    except aiohttp.ClientConnectorError:
        return Unreachable("no connection")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # What these say may hold what the other side wrote.
        return Unreachable(type(error).__name__)


async def _read(content: aiohttp.StreamReader) -> bytes | None:
    """All of it; None: it is too long."""
    chunks, size = [], 0
    async for chunk in content.iter_chunked(16 * 1024):
        size += len(chunk)
        if size > MOST_BYTES:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


_MAX_AGE = re.compile(r'max-age="?([0-9]{1,10})"?', re.ASCII)


def kept_seconds(cache_control: list[str]) -> float | None:
    """How long a response may be kept (RFC 9111 5.2.2); None: it does not say."""
    directives = [each.strip().lower() for field in cache_control for each in field.split(",")]
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    found = next((match for each in directives if (match := _MAX_AGE.fullmatch(each))), None)
    return None if found is None else float(found[1])
