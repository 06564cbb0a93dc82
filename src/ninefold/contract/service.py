"""A whole contract: the nine parts as facts."""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.contract.authentication import Authentication
from ninefold.contract.endpoints import Endpoints
from ninefold.contract.errors import Errors
from ninefold.contract.events import Events
from ninefold.contract.limits import Limits
from ninefold.contract.purpose import Purpose
from ninefold.contract.resources import Resources
from ninefold.contract.states import States
from ninefold.contract.versioning import Versioning
from ninefold.syntax.nodes import Document


@dataclass(frozen=True, slots=True)
class Contract:
    """`document` is what it was read from: places are places in it."""

    document: Document
    purpose: Purpose
    resources: Resources
    states: States
    endpoints: Endpoints
    authentication: Authentication
    events: Events
    errors: Errors
    limits: Limits
    versioning: Versioning
