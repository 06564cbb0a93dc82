"""An identity provider over a real socket: it signs real tokens, exchanges its keys, and does everything wrong when
it is told to."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

WELL_KNOWN = "/.well-known/openid-configuration"


def rsa(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid})


def ec(kid: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": kid})


def okp(kid: str) -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"kid": kid})


@dataclass
class Answer:
    """What is answered at a path, after `seconds`."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class Provider:
    """`keys`: those it publishes, by their identifiers. `asked`: the paths that were asked for, in order. `instead`:
    other answers, by path."""

    url: str
    keys: dict[str, Key]
    asked: list[str] = field(default_factory=list)
    instead: dict[str, Answer] = field(default_factory=dict)
    configured: dict[str, Any] = field(default_factory=dict)

    def answer(self, path: str) -> Answer:
        self.asked.append(path)
        if path in self.instead:
            return self.instead[path]
        if path == WELL_KNOWN:
            stated = {"issuer": self.url, "jwks_uri": self.url + "/keys", **self.configured}
            return Answer(json.dumps(stated).encode())
        if path == "/keys":
            listed = [{**key.as_dict(private=False), "kid": kid} for kid, key in self.keys.items()]
            return Answer(json.dumps({"keys": listed}).encode())
        return Answer(b"", 404)

    def claims(self, **claims: Any) -> dict[str, Any]:
        """The claims of a good token for `orders`; one that is None is left out."""
        now = int(time.time())
        usual = {"iss": self.url, "aud": "orders", "sub": "grace", "iat": now, "exp": now + 300}
        return {name: value for name, value in {**usual, **claims}.items() if value is not None}

    def token(self, kid: str = "one", algorithm: str = "RS256", **claims: Any) -> str:
        return signed({"alg": algorithm, "kid": kid}, self.claims(**claims), self.keys[kid])


def signed(header: dict[str, Any], claims: Any, key: Key) -> str:
    """A token in the compact form (RFC 7515 7.1), however odd: a library would refuse to make some of them."""
    payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    begun = f"{part(json.dumps(header).encode())}.{part(payload)}"
    return f"{begun}.{part(JWSRegistry.algorithms[header['alg']].sign(begun.encode(), key))}"


def part(data: bytes) -> str:
    """Base64url without padding (RFC 7515 2)."""
    return urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def providing() -> Iterator[Provider]:
    with served(lambda path: provider.answer(path)) as url:
        provider = Provider(url, {"one": _ONE})
        yield provider


_ONE = rsa("one")


@contextmanager
def served(answer: Callable[[str], Answer]) -> Iterator[str]:
    """Answers GET requests until the block ends; its URL."""

    async def application(
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        found = answer(scope["path"])
        await asyncio.sleep(found.seconds)
        headers = [(name.encode(), value.encode()) for name, value in found.headers.items()]
        await send({"type": "http.response.start", "status": found.status, "headers": headers})
        await send({"type": "http.response.body", "body": found.body})

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    host, port = listening.getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()
