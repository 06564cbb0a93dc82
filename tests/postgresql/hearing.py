"""`python -m tests.postgresql.hearing HOW serve …`: `ninefold` that learns of what other nodes have written in one way
alone: because it is `told` (NOTIFY), or because it `looks` now and then, once its connections were cut. It says `waits`
whenever those who listen have all that there is."""

from __future__ import annotations

import sys
from typing import Final

NEVER: Final = 3600.0
"""Seconds that no test waits for."""

if __name__ == "__main__":
    how = sys.argv.pop(1)
    from ninefold.cli import main
    from ninefold.runtime.background import jobs
    from ninefold.runtime.http import streams
    from ninefold.runtime.store import bell

    if how == "told":
        bell.BY_ITSELF = streams.CHECK_SECONDS = NEVER
    else:
        assert how == "looks"
        jobs.AFTER_FAILURE = NEVER
    heard = streams.Streams._heard

    async def waits(self: streams.Streams) -> None:
        print("waits", flush=True)
        await heard(self)

    streams.Streams._heard = waits  # type: ignore[method-assign]
    sys.exit(main())
