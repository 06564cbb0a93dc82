"""`python -m tests.postgresql.silent`, in a network of its own (`unshare -n`): PostgreSQL's machine leaves the network
while it is waited for, and the connection is found lost."""

from __future__ import annotations

import asyncio
import subprocess

from tests.postgresql import server
from tests.postgresql.clusters import clusters
from tests.waiting import PATIENCE

from ninefold.runtime.store.postgresql_link import Link, Lost


def network(state: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", state], check=True)


async def main() -> None:
    link = await Link.open("postgresql://ninefold@127.0.0.1/postgres")
    asked = asyncio.create_task(link.value("SELECT pg_sleep(1000000)"))
    await asyncio.sleep(0)
    network("down")
    try:
        async with asyncio.timeout(PATIENCE):
            await asked
    except Lost as error:
        print(f"lost: {error}")


if __name__ == "__main__":
    network("up")
    with clusters(1) as (one,):
        server.make(one.where)
        one.begin(listen_addresses="127.0.0.1")
        asyncio.run(main())
