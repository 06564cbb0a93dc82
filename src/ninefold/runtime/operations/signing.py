"""Signatures of deliveries, after Standard Webhooks 1.0
(https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).

A secret is made of the database's own secret and of the subscription whenever it is needed. It is stored nowhere, and
what is lost with a copy of the tables alone is none of them.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence

PREFIX = "whsec_"

_OF_URLS = str.maketrans("-_", "+/")


def signing_key(key: bytes) -> bytes:
    """From the service's secret to the one that all signing secrets are made of."""
    return hmac.digest(key, b"webhooks", "sha256")


def secret(key: bytes, subscription: str, generation: int = 0) -> bytes:
    """The 32 bytes that sign what is delivered to a subscription. `generation` counts the secrets that it has had."""
    return hmac.digest(key, f"{subscription} {generation}".encode(), "sha256")


def written(secret: bytes) -> str:
    """A secret as the receiver is told it."""
    return PREFIX + b64encode(secret).decode("ascii")


def read(text: str) -> bytes | None:
    """The secret that a text is: the text itself, or what is base64 behind the prefix, also by the alphabet of URLs
    and without padding. Standard Webhooks writes neither of these two, and who makes secrets does. None: it is none."""
    if not text.startswith(PREFIX):
        return text.encode() or None
    digits = text[len(PREFIX) :].rstrip("=").translate(_OF_URLS)
    try:
        return b64decode(digits + "=" * (-len(digits) % 4), validate=True) or None
    except ValueError:
        return None


def headers(secrets: Sequence[bytes], id: str, seconds: int, body: bytes) -> dict[str, str]:
    """What says whose a delivery is. `seconds`: the time of the attempt, since 1970. While a secret takes the place of
    another, both sign; without one nothing does."""
    signed = f"{id}.{seconds}.".encode() + body
    signatures = (b64encode(hmac.digest(each, signed, "sha256")).decode("ascii") for each in secrets)
    signature = " ".join(f"v1,{each}" for each in signatures)
    said = {"webhook-id": id, "webhook-timestamp": str(seconds)}
    return said | ({"webhook-signature": signature} if signature else {})
