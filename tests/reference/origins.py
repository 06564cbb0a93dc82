"""What browsers are told of scripts of other origins (meaning "other origins"; the Fetch standard, CORS protocol)."""

from __future__ import annotations

from dataclasses import replace

from tests.reference.messages import Request, Response

from ninefold.checked.endpoints import Cors


def told(cors: Cors | None, request: Request, response: Response) -> Response:
    """The response as a browser gets it; that to OPTIONS has the methods of its path in `Allow`."""
    if cors is None:
        return response
    is_asked = request.method == "OPTIONS" and response.status == 204
    headers, origin = dict(response.headers), request.headers.get("origin")
    depends = cors.origins is not None or cors.credentials
    if not depends or (origin is not None and (cors.origins is None or origin in cors.origins)):
        headers["access-control-allow-origin"] = (origin or "") if depends else "*"
        headers |= {"access-control-allow-credentials": "true"} if cors.credentials else {}
        if is_asked and origin is not None and "access-control-request-method" in request.headers:
            headers["access-control-allow-methods"] = headers["allow"]
            headers |= {"access-control-allow-headers": ", ".join(cors.headers)} if cors.headers else {}
            headers |= {} if cors.max_age is None else {"access-control-max-age": str(cors.max_age // 1_000_000)}
        elif cors.exposed:
            headers["access-control-expose-headers"] = ", ".join(cors.exposed)
    if depends:
        headers["vary"] = ", ".join(filter(None, (headers.get("vary"), "Origin")))
    return replace(response, status=cors.preflight if is_asked else response.status, headers=headers)
