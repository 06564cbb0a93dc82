"""Who asks a service in its versions: each version has somebody who asks, and chance says who does next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Final

from tests.agreement import limits, origins
from tests.agreement.comparing import Asked
from tests.agreement.requests import Asker
from tests.agreement.versions import PINNED
from tests.reference.messages import Request, Response
from tests.reference.versions import Service

from ninefold.checked.service import Versions

BEGIN: Final = datetime(2026, 1, 1)


class Askers:
    """Asks a service in its versions, one after another as chance has it."""

    def __init__(self, random: Random, service: Service) -> None:
        self.random, self.service, self.now = random, service, BEGIN
        self._beside = Random(0)
        self.of = {name: Asker(random, each.checked, each) for name, each in service.of.items()}
        self.asking = next(iter(self.of.values()))

    def requests(self, count: int) -> Iterator[Asked]:
        """So many, and some to certain endpoints."""
        for _ in range(count):
            yield self._asked(Asker.any)
        for asker in self.of.values():
            for request in asker.to_values():
                yield self._asked(partial(_made, request), asker)

    def _asked(self, request: Callable[[Asker], Request], asker: Asker | None = None) -> Asked:
        self.now += timedelta(seconds=self.random.choice([0, 1, 60, 4000]), microseconds=1)
        versions = self.service.checked.versions
        name = None if versions is None else self._beside.choice([*self.of])
        if asker is not None:
            name = next(each for each, of in self.of.items() if of is asker)
        self.asking = self.of[name]
        self.service.at(name)
        asked = request(self.asking)
        if versions is not None:
            asked = self._named(asked, versions, name or "")
        if self.service.checked.cors is not None:
            asked = origins.asked(self._beside, asked)
        if self.service.checked.limits.rates:
            asked = limits.asked(self._beside, asked)
        return Asked(self.now.isoformat(timespec="microseconds") + "Z", asked)

    def _named(self, request: Request, versions: Versions, name: str) -> Request:
        """The request to a version, by its name where it needs one. Now and then there is no such version."""
        if versions.pinned is not None and self._beside.random() < 0.6:
            pinned = self._beside.choice([name, name, "", "four"])
            headers = {} if self._beside.random() < 0.1 else {PINNED.lower(): pinned}
            return replace(request, headers={**request.headers, **headers})
        if name == versions.default and self._beside.random() < 0.7:
            return request
        if self._beside.random() < 0.03:
            name = self._beside.choice(["four", "", "One"])
        match versions.by:
            case "header":
                return replace(request, headers={**request.headers, versions.name.lower(): name})
            case "query":
                path, mark, query = request.target.partition("?")
                return replace(request, target=f"{path}?{query}{'&' if mark else ''}{versions.name}={name}")
            case "media type":
                return replace(request, headers={**request.headers, **self._media_types(request, versions, name)})
            case _:
                base = "/" + self.service.checked.base.strip("/")
                base = "" if base == "/" else base
                return replace(request, target=f"{base}/{name}{request.target.removeprefix(base)}")

    def _media_types(self, request: Request, versions: Versions, name: str) -> dict[str, str]:
        """Headers that name a version: what is accepted, what is sent, or both, which may not agree."""
        other = self._beside.choice([each for each in self.of if each != name] or [name])
        accepted = self._beside.choice(
            [
                *(["application/json; v=N"] * 3),
                *("application/json; v=O; q=0.5, application/json;v=N", "application/json; v=five, */*; v=N; q=0.2"),
                *("application/json; v=O; q=0, application/json; v=N", "text/html; v=N", "application/json; V=N, */*"),
            ]
        )
        named = name or '""'
        headers = {"accept": accepted.replace("=N", f"={named}").replace("=O", f"={other}")}
        if "content-type" not in request.headers:
            return headers
        sent = named if self._beside.random() < 0.9 else other
        own = {"content-type": f"{request.headers['content-type']}; {versions.name}={sent}"}
        return self._beside.choice([headers | own, own, headers])

    def told(self, response: Response) -> None:
        self.asking.told(response)


def _made(request: Callable[[], Request], asker: Asker) -> Request:
    return request()
