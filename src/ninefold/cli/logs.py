"""What a service logs beside requests. Errors may quote what somebody sent: no line is ended by that, and no terminal
obeys it."""

from __future__ import annotations

import logging
from typing import Any, Final

from ninefold.diagnostics.render import visible

WITH_TIME: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
WITHOUT_TIME: Final = "%(levelname)s %(name)s: %(message)s"


class _Visible(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return "\n".join(map(visible, super().formatException(ei).split("\n")))


def log_to_stderr(level: int = logging.WARNING, form: str = WITH_TIME) -> None:
    """Log from a level on to standard error, unless somebody has said where to log to."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Visible(form))
    logging.basicConfig(level=level, handlers=[handler])
