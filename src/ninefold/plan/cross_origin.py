"""What scripts of other origins may do, as browsers are told (CORS; https://fetch.spec.whatwg.org/#http-cors-protocol)."""

from __future__ import annotations

import msgspec

from ninefold.plan.places import Place


class CrossOrigin(msgspec.Struct, frozen=True, omit_defaults=True):
    """`origins` None: any. `headers`: those that a request may have besides what CORS always allows; `exposed`: those
    of a response that a script may read besides. `kept_seconds`: how long a browser may keep the answer to a
    preflight; None: as long as its own rule says."""

    origins: tuple[str, ...] | None = ()
    headers: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    credentials: bool = False
    kept_seconds: int | None = None
    trace: tuple[Place, ...] = ()
