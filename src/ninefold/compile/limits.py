"""Part 8: sizes, times, and the rates with the endpoints that each counts."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.checked.service import Checked
from ninefold.language.conditions import CONDITIONS
from ninefold.plan.limits import KEYS_KEPT, Limits, Rate, RateHeader


def limits(checked: Checked) -> Limits:
    stated = checked.limits
    served = list(dict.fromkeys(endpoint.key for endpoint in checked.endpoints))
    return Limits(
        said={key: plain for key, plain in stated.said.items() if key != KEYS_KEPT or checked.takes_keys},
        places={
            each.name: place
            for each in CONDITIONS
            if each.limit in stated.said
            for place in checked.places.at("limits", each.limit)
        },
        rates=tuple(
            Rate(
                name=rate.name,
                of=rate.of,
                allow=rate.allow,
                per_microseconds=rate.per,
                algorithm=rate.algorithm,
                burst=rate.burst or 0,
                endpoints=tuple(_counted(rate.endpoints, served)),
                said=dict(rate.said),
                trace=(rate.place, *checked.places.at("limits", "rates", rate.name, "endpoints")),
            )
            for rate in stated.rates
        ),
        headers=tuple(
            RateHeader(name, carries, checked.places.at("limits", "headers", name)) for name, carries in stated.headers
        ),
    )


def _counted(named: Iterable[str] | None, served: list[str]) -> Iterable[str]:
    """What is blocked answers 501 before anything is counted."""
    return served if named is None else [key for key in served if key in set(named)]
