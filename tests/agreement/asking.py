"""Who asks a service in its versions: each version has somebody who asks, and chance says who does next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Final

from tests.agreement.comparing import Asked
from tests.agreement.requests import Asker
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
        return Asked(self.now.isoformat(timespec="microseconds") + "Z", asked)

    def _named(self, request: Request, versions: Versions, name: str) -> Request:
        """The request to a version, by its name where it needs one. Now and then there is no such version."""
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
            case _:
                base = "/" + self.service.checked.base.strip("/")
                base = "" if base == "/" else base
                return replace(request, target=f"{base}/{name}{request.target.removeprefix(base)}")

    def told(self, response: Response) -> None:
        self.asking.told(response)


def _made(request: Callable[[], Request], asker: Asker) -> Request:
    return request()
