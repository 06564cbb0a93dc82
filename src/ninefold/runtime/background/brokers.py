"""Which broker an address names, and whether the events of a contract can be sent there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from msgspec import structs

from ninefold.plan.service import ServicePlan
from ninefold.runtime.background import kafka_address

if TYPE_CHECKING:
    from ninefold.runtime.background.broker import Line

BROKER: Final = "broker"
"""Under which name the database keeps how far the log has been sent."""

SUBJECT: Final = re.compile(r"[^\s.*>$\x00-\x1f\x7f][^\s.*>\x00-\x1f\x7f]*(\.[^\s.*>\x00-\x1f\x7f]+)*")
"""https://docs.nats.io/nats-concepts/subjects: tokens with dots between them, without wildcards; those that begin with
`$` are the broker's own."""


def to_broker(plan: ServicePlan, kinds: Sequence[str], address: str) -> ServicePlan | str:
    """The plan of a service that sends its log to a broker, or why none can take it. `kinds`: of its events, each of
    which is the subject of its messages."""
    if plan.delivery is None:
        return "the contract has no events that could be sent to a broker"
    if address.startswith(kafka_address.SCHEMES):
        topic = kafka_address.topic_of(address)
        if isinstance(topic, str):
            return topic
        if find_spec("confluent_kafka") is None:
            return "Kafka needs the package confluent-kafka: pip install 'ninefold[kafka]'"
        return _sent(plan)
    if not address.startswith(("nats://", "tls://", "ws://", "wss://")):
        return "the address of a broker begins with nats:// or tls://, kafka:// or kafkas://"
    for kind in kinds:
        if SUBJECT.fullmatch(kind) is None:
            return f"the kind `{kind}` cannot be the subject of a message: write words with dots, such as order.placed"
    return _sent(plan)


def _sent(plan: ServicePlan) -> ServicePlan:
    return structs.replace(plan, schema=structs.replace(plan.schema, broker=BROKER))


def line_to(address: str) -> Line:
    """The way to the broker of an address that a plan was made for. Its client is loaded."""
    if address.startswith(kafka_address.SCHEMES):
        from ninefold.runtime.background.kafka import Kafka

        topic = kafka_address.topic_of(address)
        assert not isinstance(topic, str)
        return Kafka(topic)
    from ninefold.runtime.background.nats import Nats

    return Nats(address)
