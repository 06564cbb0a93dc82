"""ninefold: a service contract in, a running service out, and nothing invented in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ninefold.library import Application, ContractError, DatabaseRefused, Refused, Service, application, load

__version__ = "0.1.0"

__all__ = ["Application", "ContractError", "DatabaseRefused", "Refused", "Service", "application", "load"]


def __getattr__(name: str) -> Any:
    """The library, imported when something of it is first asked for: most commands do without."""
    if name in __all__:
        from ninefold import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
