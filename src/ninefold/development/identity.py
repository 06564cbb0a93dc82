"""A small identity provider, so that a service can be tried whose callers are somebody else's to know.

It signs whatever it is asked to, for whoever can reach it: it belongs to `dev`, listens where the operator's port does
and only if nobody else's machine can reach that, and its key is made for the run and kept nowhere.

    curl -d role=billing http://127.0.0.1:8081/identity/staff/token

The token endpoint takes claims as a form (a name that comes several times is an array) or as a JSON object, which may
replace every claim. Its answer is that of RFC 6749 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.authentication import WELL_KNOWN, Discovered, Scheme
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.cycle import Asgi, Message, Receive, Send
from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.request.issuers import is_this_machine, operator_value

if TYPE_CHECKING:
    from joserfc.jwk import ECKey


SECONDS = 24 * 60 * 60
"""How long a token is good: a day of work."""

SUBJECT = "dev"
"""Who a token is about that is not said to be about somebody."""

MOST_BYTES = 64 * 1024
"""Of claims that are asked for."""

_ROOT = "/identity/"
_ALGORITHM = "ES256"


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: Any = None
    allow: str | None = None


@dataclass
class Identity:
    """`url`: of the operator's port. `audiences`: by scheme, those for which tokens are signed."""

    url: str
    clock: Callable[[], datetime]
    audiences: dict[str, str] = field(default_factory=dict)
    _issuers: dict[str, str] = field(default_factory=dict)
    _made: dict[tuple[str, str, bytes], tuple[float, str]] = field(default_factory=dict)

    @cached_property
    def _key(self) -> ECKey:
        """Made, and what makes it loaded, when the first token is asked for."""
        from joserfc.jwk import ECKey

        # Whoever keeps the keys of a run before is told by the name that this is another one.
        return ECKey.generate_key("P-256", {"kid": token_hex(8), "use": "sig"})

    @property
    def is_private(self) -> bool:
        """Whether no other machine can reach it."""
        return is_this_machine(urlsplit(self.url).hostname or "")

    def issuer(self, scheme: str) -> str:
        return self.url + _ROOT + quote(scheme, safe="")

    def take_over(self, plan: ServicePlan, given: Mapping[str, str]) -> dict[str, str]:
        """The operator's values, with itself as the issuer of every openIdConnect scheme that was given none."""
        values, self.audiences = dict(given), {}
        if not self.is_private:
            return values
        for scheme in plan.schemes:
            name = _issuer_name(scheme)
            if scheme.signed is None or name is None or name in given:
                continue
            # Schemes that name one issuer have one, called after the first of them.
            self._issuers[scheme.scheme] = values.setdefault(name, self.issuer(scheme.scheme))
            self.audiences[scheme.scheme] = scheme.signed.audience
        return values

    def token(self, scheme: str, claims: Mapping[str, Any]) -> str:
        """A token with these claims, and the usual ones where they are not among them. The same for the same claims,
        until half of its time is over."""
        now = self.clock().timestamp()
        key = (scheme, self.audiences[scheme], msgspec.json.encode(claims, order="deterministic"))
        made, token = self._made.get(key, (0.0, ""))
        if now - made > SECONDS / 2:
            usual = {"iss": self._issuers[scheme], "aud": self.audiences[scheme], "sub": SUBJECT, "iat": int(now)}
            said = {**usual, "exp": int(now) + SECONDS, **claims}
            from joserfc.jwt import encode

            token = encode({"alg": _ALGORITHM, "kid": self._key.kid}, said, self._key)
            if len(self._made) > 100:
                self._made.clear()
            self._made[key] = (now, token)
        return token

    def document(self, url: str) -> bytes | None:
        """What a GET of a URL gives, for whoever asks in process; None: nothing is there."""
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.url or not parts.path.startswith(_ROOT):
            return None
        found = self._answer({"path": parts.path, "method": "GET", "headers": []}, b"")
        return msgspec.json.encode(found.body) if found.status == 200 else None

    def beside(self, operator: Asgi) -> Asgi:
        """The operator's application, with the provider under `/identity/`: for what stands behind its
        guard."""

        async def answer_request(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or not scope["path"].startswith(_ROOT):
                await operator(scope, receive, send)
                return
            found = self._answer(scope, await _body(receive))
            body = b"" if found.body is None else msgspec.json.format(msgspec.json.encode(found.body)) + b"\n"
            headers = [(b"content-length", str(len(body)).encode("ascii"))]
            if body:
                headers.append((b"content-type", b"application/json"))
            if found.allow is not None:
                headers.append((b"allow", found.allow.encode("ascii")))
            await send({"type": "http.response.start", "status": found.status, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

        return answer_request

    def _answer(self, scope: Message, body: bytes | None) -> _Answer:
        headers = dict(scope["headers"])
        name, slash, rest = scope["path"].removeprefix(_ROOT).partition("/")
        scheme, path = unquote(name) if name not in self.audiences else name, slash + rest
        if scheme not in self.audiences:
            return _Answer(404)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        issuer = self.issuer(scheme)
        match path:
            case _ if path == WELL_KNOWN:
                found = _configuration(issuer)
            case "/keys":
                found = {"keys": [self._key.as_dict(private=False)]}
            case "/token":
                if method != "POST":
                    return _Answer(405, allow="POST")
                return self._minted(scheme, headers.get(b"content-type", b"").decode("latin-1"), body)
            case _:
                return _Answer(404)
        return _Answer(200, found) if method == "GET" else _Answer(405, allow="GET, HEAD")

    def _minted(self, scheme: str, media_type: str, body: bytes | None) -> _Answer:
        try:
            claims = _claims(media_type, body)
        except ValueError as error:
            return _Answer(400, {"error": "invalid_request", "error_description": str(error)})
        token = self.token(scheme, claims)
        return _Answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": SECONDS})


def _issuer_name(scheme: Scheme) -> str | None:
    """NAME where the issuer of a scheme is `operator.NAME`, and says the rest of itself."""
    if scheme.signed is None or not isinstance(scheme.signed.issuer, Discovered):
        return None
    return operator_value(scheme.signed.issuer.url)


def _configuration(issuer: str) -> dict[str, Any]:
    """OpenID Connect Discovery 1.0, section 3. Nobody signs in here, so there is no authorization endpoint."""
    return {
        "issuer": issuer,
        "jwks_uri": issuer + "/keys",
        "token_endpoint": issuer + "/token",
        "response_types_supported": ["token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [_ALGORITHM],
    }


def _claims(media_type: str, body: bytes | None) -> dict[str, Any]:
    """The claims that are asked for. Raises ValueError."""
    if body is None:
        raise ValueError(f"more than {MOST_BYTES // 1024} KiB")
    if media_type.partition(";")[0].strip().lower() == "application/json":
        document = parse(body)
        if not isinstance(document, dict):
            raise ValueError("not a JSON object")
        return document
    fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=100)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


async def _body(receive: Receive) -> bytes | None:
    """None: it is too long."""
    content = b""
    while len(content) <= MOST_BYTES:
        message = await receive()
        content += message.get("body", b"")
        if not message.get("more_body", False):
            return content if len(content) <= MOST_BYTES else None
    return None
