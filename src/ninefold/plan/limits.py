"""Limits that are in force."""

from __future__ import annotations

import msgspec

from ninefold.plan.places import Place


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """`body_bytes`: a larger body is `too large`, told while it is read. `request_microseconds`: a request that
    takes longer is `timed out`. None: not limited by the contract. `places`: where each is stated, by its condition."""

    body_bytes: int | None = None
    request_microseconds: int | None = None
    places: dict[str, Place] = {}
