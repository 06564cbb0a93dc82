"""The mock broker of librdkafka, which speaks the protocol over real sockets: it says what it is told to say, as no
broker of a wheel does (https://github.com/confluentinc/librdkafka, `rdkafka_mock.h`)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import confluent_kafka

_PRODUCER, _PRODUCE = 0, 0

MISSING, TOO_LARGE, NO_RIGHTS = 3, 10, 29
"""https://kafka.apache.org/protocol#protocol_error_codes"""

NONE: Final = 0


class Mock:
    """`address`: of its topic `log`, of four partitions."""

    def __init__(self, library: ctypes.CDLL, cluster: int) -> None:
        self._library, self._cluster = library, cluster
        library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        self.servers = library.rd_kafka_mock_cluster_bootstraps(ctypes.c_void_p(cluster)).decode()
        self.address = f"kafka://{self.servers}/log"

    def topic(self, error: int) -> None:
        """What is said of the topic, from now on."""
        self._library.rd_kafka_mock_topic_set_error(ctypes.c_void_p(self._cluster), b"log", error)

    def produce(self, *errors: int) -> None:
        """What is said of the next messages."""
        given = (ctypes.c_int * len(errors))(*errors)
        push = self._library.rd_kafka_mock_push_request_errors_array
        push(ctypes.c_void_p(self._cluster), ctypes.c_int16(_PRODUCE), ctypes.c_size_t(len(errors)), given)


@contextmanager
def mock() -> Iterator[Mock]:
    package = Path(confluent_kafka.__file__).parent
    [path] = [
        each
        for folder in (package.parent / "confluent_kafka.libs", package / ".dylibs")
        for each in folder.glob("librdkafka*")
    ]
    library = ctypes.CDLL(str(path))
    made: Any = library.rd_kafka_new
    made.restype = library.rd_kafka_mock_cluster_new.restype = ctypes.c_void_p
    client = made(_PRODUCER, None, ctypes.create_string_buffer(512), ctypes.c_size_t(512))
    cluster = library.rd_kafka_mock_cluster_new(ctypes.c_void_p(client), 1)
    try:
        yield Mock(library, cluster)
    finally:
        library.rd_kafka_mock_cluster_destroy(ctypes.c_void_p(cluster))
        library.rd_kafka_destroy(ctypes.c_void_p(client))
