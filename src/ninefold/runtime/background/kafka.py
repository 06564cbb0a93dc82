"""The event log, sent to a topic of Kafka, by librdkafka.

What was read of the log is given to the client at once. What has one key goes to one partition, and what goes to one
partition is kept there in the order in which it was given, however often it has to be sent (`enable.idempotence`,
`acks=all`). Behind what the broker has refused nothing is kept (`enable.gapless.guarantee`): it is sent again with what
came after it, in the order of the log. While the broker is away the client has what it was given, and goes on with it
by itself, so that nothing comes twice for that.

Messages have the time at which they were sent: a topic that forgets after a week shall not have forgotten what waited
for longer. When something happened, its event says.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Kept

from ninefold.runtime.background.broker import SECONDS, Away, Message
from ninefold.runtime.background.kafka_address import MECHANISM, Topic

T = TypeVar("T")

_AT_ONCE: Final = 0.2
"""Seconds for which is waited for what the client has to say, before it is looked whether there still is one."""

_ASKED: Final = 1.0
"""Seconds in which the broker says whether it has the topic."""

_STUCK: Final = 30.0
"""Seconds without a word of a broker that is there, after which a client is begun anew: as where the broker has lost
what it counted the messages of this one by."""

_SILENT: Final = logging.Logger("ninefold.delivery.kafka")
_SILENT.addHandler(logging.NullHandler())

_SETTINGS: Final[dict[str, Any]] = {
    "client.id": "ninefold",
    "acks": "all",
    "enable.idempotence": True,
    "enable.gapless.guarantee": True,
    # As Kafka's own clients find the partition of a key.
    "partitioner": "murmur2_random",
    # Never: what is given up is sent again, and may come twice.
    "message.timeout.ms": 0,
    "linger.ms": 1,
    # How large a message may be the topic says. Those that go together are to be no reason.
    "message.max.bytes": 1_000_000_000,
    "batch.size": 65536,
    "socket.timeout.ms": int(SECONDS * 1000),
    "socket.connection.setup.timeout.ms": int(SECONDS * 1000),
    "reconnect.backoff.ms": 200,
    "reconnect.backoff.max.ms": 2000,
    # It would write to standard error.
    "logger": _SILENT,
}

_WORDS: Final = {
    "_RESOLVE": "its host is not found",
    "_TRANSPORT": "no connection",
    "_ALL_BROKERS_DOWN": "no connection",
    "_TIMED_OUT": "no answer in time",
    "_AUTHENTICATION": "it does not take the user and the password",
    "_SSL": "TLS failed",
    "_UNKNOWN_TOPIC": "it has no such topic",
    "UNKNOWN_TOPIC_OR_PART": "it has no such topic",
    "TOPIC_AUTHORIZATION_FAILED": "the user may not write to the topic",
    "CLUSTER_AUTHORIZATION_FAILED": "the user may not write idempotently (IdempotentWrite)",
    "_INVALID_ARG": "a file of TLS cannot be used (ssl_ca_certs, ssl_certfile, ssl_keyfile)",
    "MSG_SIZE_TOO_LARGE": "an event is larger than the topic takes (max.message.bytes)",
}
"""What errors mean, by their names. What is said of them may hold what a broker wrote."""

_ANY: Final = ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT")
"""Those of connections that do not say why."""

_AFTERWARDS: Final = ("_FATAL", "_GAPLESS_GUARANTEE", "_PURGE_QUEUE", "_PURGE_INFLIGHT")
"""Those that follow from another one."""


class Kafka:
    """The way to one topic."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self._thread: ThreadPoolExecutor | None = None
        """In which is waited for the client."""
        self._producer: Producer | None = None
        self._given = 0
        """The last position that it was given."""
        self._said: dict[int, KafkaError | None] = {}
        """Of which positions it has said what became of them: None where the broker keeps them."""
        self._error: KafkaError | None = None
        """Why there is no connection, since there was one."""
        self._is_down = False
        self._since = time.monotonic()
        """When the broker last kept something, or could last not be reached, or had last kept all."""
        self._is_careful = False
        """After something was refused: what comes behind it in other partitions would be kept with each attempt."""

    def holds(self) -> bool:
        # What it has to say while nothing is sent, nobody else asks for.
        self._listen(0)
        return self._producer is not None

    async def open(self) -> None:
        try:
            if self._producer is None:
                self._thread = self._thread or ThreadPoolExecutor(1, "ninefold-kafka")
                await self._apart(self._begin)
            error = await self._apart(self._has_topic)
        except KafkaException as failure:
            await self._apart(self._listen)
            error = failure.args[0]
        if error is not None:
            self._since = time.monotonic()
            raise self._away(error)
        self._error, self._is_down = None, False

    async def send(self, messages: Sequence[Message]) -> AsyncIterator[int]:
        if self._given in self._said:
            # It has nothing to send: that connections have ended which were not needed says nothing.
            self._error, self._is_down, self._since = None, False, time.monotonic()
        # What is told here and cannot be noted is asked for again.
        begin = messages[0].position if messages else self._given
        self._said = {position: error for position, error in self._said.items() if position >= begin}
        try:
            self._give(messages[: 1 if self._is_careful else None])
            for each in messages:
                self._give([each])
                last = time.monotonic()
                while each.position not in self._said:
                    if self._is_down or time.monotonic() > last + SECONDS:
                        raise await self._silent()
                    await self._apart(self._listen)
                if (error := self._said[each.position]) is not None:
                    raise KafkaException(error)
                yield each.position
            self._is_careful = False
        except KafkaException as failure:
            # Of what it still has it sends nothing more.
            await self._apart(self._listen)
            why = [each for each in self._said.values() if each is not None and each.name() not in _AFTERWARDS]
            away = self._away(why[0] if why else self._error or failure.args[0])
            await self._end()
            raise away from failure

    def _give(self, messages: Sequence[Message]) -> None:
        """Give the client what it does not have yet. Raises KafkaException."""
        producer = self._producer
        assert producer is not None
        for each in messages:
            if each.position > self._given:
                headers: Any = {"content-type": each.media_type, "id": each.id, "type": each.kind}
                heard = partial(self._reported, each.position)
                producer.produce(self._topic.name, each.body, each.row, headers=headers, on_delivery=heard)
                self._given = each.position

    async def _silent(self) -> Away:
        """Nothing is kept, nor refused. The client goes on with it, unless that has come to nothing for long."""
        why = self._away(self._error)
        if self._error is not None:
            self._since = time.monotonic()
        elif time.monotonic() > self._since + _STUCK:
            await self._end()
        return why

    async def _end(self) -> None:
        await self.close()
        self._is_careful = True

    async def close(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._dropped)
            thread.shutdown(wait=False)
        self._given, self._said, self._error, self._is_down = 0, {}, None, False

    # ── In its own thread, where the client is begun, heard and ended: each may take a while ──────────────────────

    async def _apart(self, work: Callable[[], T]) -> T:
        assert self._thread is not None
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _begin(self) -> None:
        settings = {**_SETTINGS, **self._topic.settings, "error_cb": self._heard}
        if authorities := _authorities():
            settings.setdefault("ssl.ca.location", authorities)
        self._producer = Producer(settings)

    def _has_topic(self) -> KafkaError | None:
        """What the broker has against the topic. Raises KafkaException."""
        assert self._producer is not None
        error: KafkaError | None = self._producer.list_topics(self._topic.name, _ASKED).topics[self._topic.name].error
        return error

    def _listen(self, seconds: float = _AT_ONCE) -> None:
        # It raises what it has told.
        with suppress(KafkaException):
            if self._producer is not None:
                self._producer.poll(seconds)

    def _dropped(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(KafkaException):
                producer.purge()
                producer.poll(0)

    def _reported(self, position: int, error: KafkaError | None, _: Kept) -> None:
        self._said[position] = error
        if error is None:
            self._error, self._is_down, self._since = None, False, time.monotonic()

    def _heard(self, error: KafkaError) -> None:
        """What goes wrong on connections: with one of several brokers, too."""
        self._is_down = self._is_down or error.name() == "_ALL_BROKERS_DOWN"
        if self._error is None or error.name() not in (*_ANY, *_AFTERWARDS):
            self._error = error

    def _away(self, error: KafkaError | None) -> Away:
        if error is None or (error.name() in _ANY and self._error is not None):
            error = self._error
        return Away(f"the broker takes no event: {'no answer in time' if error is None else self._meaning(error)}")

    def _meaning(self, error: KafkaError) -> str:
        text = error.str()
        if error.name() == "_AUTHENTICATION" and "Unsupported SASL mechanism" in text:
            return f"it does not take the mechanism {self._topic.settings['sasl.mechanism']} ({MECHANISM})"
        if error.name() == "_SSL" and "certificate verify failed" in text:
            return "its certificate is not taken"
        return _WORDS.get(error.name(), error.name())


def _authorities() -> str | None:
    """Whose certificates are taken: those of the machine, or of `SSL_CERT_FILE`, as of other servers."""
    found = ssl.get_default_verify_paths()
    return found.cafile or found.capath
