"""CORS: what a browser is told of scripts of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol).

A browser asks before it sends what a page could not send without scripts: OPTIONS with `Origin` and
`Access-Control-Request-Method`. Nothing is refused here: a script that is not allowed does not get to see the answer,
and that is the browser's doing.
"""

from __future__ import annotations

from ninefold.plan import routes as plan
from ninefold.runtime.messages.message import HeaderFields, Request

_VARIES: HeaderFields = ((b"vary", b"Origin"),)


class Cors:
    """A plan's CORS made ready. `status`: that of an answer to OPTIONS."""

    __slots__ = ("_asked", "_echoed", "_given", "_origins", "status")

    def __init__(self, stated: plan.Cors) -> None:
        # `*` stands for any origin only where no credentials come along.
        self._echoed = stated.origins is not None or stated.credentials
        self._origins = None if stated.origins is None else frozenset(stated.origins)
        credentials: HeaderFields = ((b"access-control-allow-credentials", b"true"),) if stated.credentials else ()
        exposed: HeaderFields = ((b"access-control-expose-headers", _listed(stated.exposed)),) if stated.exposed else ()
        headers: HeaderFields = ((b"access-control-allow-headers", _listed(stated.headers)),) if stated.headers else ()
        max_age: HeaderFields = ()
        if stated.max_age is not None:
            max_age = ((b"access-control-max-age", str(stated.max_age).encode("ascii")),)
        self._given = credentials + exposed
        self._asked = credentials + headers + max_age
        self.status = stated.preflight

    def headers(self, request: Request) -> HeaderFields:
        """Of a response: who may see it, and what of it."""
        return self._allowed(request, self._given)

    def preflight(self, request: Request, methods: bytes) -> HeaderFields | None:
        """Of the answer to a preflight for a path that has these methods; None: the request is none."""
        if "origin" not in request.headers or "access-control-request-method" not in request.headers:
            return None
        return self._allowed(request, ((b"access-control-allow-methods", methods), *self._asked))

    def _allowed(self, request: Request, more: HeaderFields) -> HeaderFields:
        if not self._echoed:
            return ((b"access-control-allow-origin", b"*"), *more)
        origin = request.headers.get("origin")
        if origin is None or (self._origins is not None and origin not in self._origins):
            return _VARIES
        return ((b"access-control-allow-origin", origin.encode("latin-1")), *more, *_VARIES)


def _listed(names: tuple[str, ...]) -> bytes:
    return ", ".join(names).encode("ascii")
