"""What the operation of an endpoint says, where it is of a kind that can say it."""

from __future__ import annotations

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Expansion, Filter, List, Mutation, Pages, Projection, Read, Sorts, Stream
from ninefold.checked.resources import Transition


def pages_of(endpoint: Endpoint) -> Pages | None:
    return endpoint.operation.pages if isinstance(endpoint.operation, List) else None


def sorts_of(endpoint: Endpoint) -> Sorts | None:
    return endpoint.operation.sorts if isinstance(endpoint.operation, List) else None


def filters_of(endpoint: Endpoint) -> tuple[Filter, ...]:
    return endpoint.operation.filters if isinstance(endpoint.operation, List | Mutation | Stream) else ()


def projection_of(endpoint: Endpoint) -> Projection | None:
    return endpoint.operation.projection if isinstance(endpoint.operation, Read | List) else None


def expansion_of(endpoint: Endpoint) -> Expansion | None:
    return endpoint.operation.expansion if isinstance(endpoint.operation, Read | List) else None


def transition_of(endpoint: Endpoint) -> Transition | None:
    return None if endpoint.mutation is None else endpoint.mutation.transition


def further_of(endpoint: Endpoint) -> tuple[Transition, ...]:
    return () if endpoint.mutation is None else endpoint.mutation.further


def is_of_all(endpoint: Endpoint) -> bool:
    return endpoint.mutation is not None and endpoint.mutation.of_all is not None
