"""The address of a topic of Kafka: `kafka://HOST:PORT,HOST:PORT/TOPIC`, or `kafkas://…` over TLS, with a user and a
password before the hosts where the brokers ask for them (SASL), and parameters of the names below behind a `?`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ninefold.diagnostics.frozen import dataclass

SCHEMES: Final = ("kafka://", "kafkas://")

_TOPIC: Final = re.compile(r"(?!\.\.?$)[a-zA-Z0-9._-]{1,249}")
"""https://kafka.apache.org: org.apache.kafka.common.internals.Topic"""

_SERVER: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:@\[\]/?#]+)(:[0-9]{1,5})?")

_MECHANISMS: Final = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
"""The first where none is said."""

_FILES: Final = {
    "ssl_ca_certs": "ssl.ca.location",
    "ssl_certfile": "ssl.certificate.location",
    "ssl_keyfile": "ssl.key.location",
}

MECHANISM: Final = "sasl_mechanism"


@dataclass(frozen=True, slots=True)
class Topic:
    """`settings`: how librdkafka calls what was said of the connection; they hold the password."""

    name: str
    settings: dict[str, str]


def topic_of(address: str) -> Topic | str:
    """Of an address that begins with one of the schemes. Else what is wrong with it, without any of its words: each may
    be a part of a password that has not been escaped."""
    try:
        parts = urlsplit(address)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        return f"the address is none: {_WRITTEN}"
    userinfo, at, servers = parts.netloc.rpartition("@")
    name = unquote(parts.path.removeprefix("/"))
    if not all(map(_SERVER.fullmatch, servers.split(","))):
        return f"its hosts are none: {_WRITTEN}"
    if parts.fragment or not _TOPIC.fullmatch(name):
        return f"a topic stands behind the hosts, of letters, digits, `.`, `_` and `-`: {_WRITTEN}"
    said = dict(given)
    if len(said) < len(given) or said.keys() - {*_FILES, MECHANISM}:
        return f"its parameters are {', '.join((*_FILES, MECHANISM))}, each once"
    is_over_tls = parts.scheme == "kafkas"
    settings = {"bootstrap.servers": ",".join(map(_with_port, servers.split(",")))}
    settings |= {_FILES[key]: value for key, value in said.items() if key in _FILES}
    if len(settings) > 1 and not is_over_tls:
        return "files of TLS stand in an address that begins with kafkas://"
    if ("ssl_certfile" in said) != ("ssl_keyfile" in said):
        return "ssl_certfile and ssl_keyfile go together"
    settings["security.protocol"] = ("sasl_" * bool(at)) + ("ssl" if is_over_tls else "plaintext")
    if not at:
        return f"{MECHANISM} is of a user, who stands before the hosts" if MECHANISM in said else Topic(name, settings)
    mechanism = said.get(MECHANISM, _MECHANISMS[0])
    user, colon, password = userinfo.partition(":")
    if mechanism not in _MECHANISMS:
        return f"the mechanisms are {', '.join(_MECHANISMS)}"
    if not colon or not user:
        return f"a user stands there with a password: {_WRITTEN}"
    if mechanism == "PLAIN" and not is_over_tls:
        return "PLAIN tells the password in the clear: kafkas://, or another mechanism"
    sasl = {"sasl.mechanism": mechanism, "sasl.username": unquote(user), "sasl.password": unquote(password)}
    return Topic(name, settings | sasl)


_WRITTEN: Final = "kafka://HOST:PORT,HOST:PORT/TOPIC or kafkas://USER:PASSWORD@HOST:PORT/TOPIC"


def _with_port(server: str) -> str:
    return server if re.search(r":[0-9]+$", server) and not server.endswith("]") else f"{server}:9092"
