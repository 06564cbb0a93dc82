"""The diagnostics of a document that decides an upgrade."""

from __future__ import annotations

from typing import Final

from ninefold.diagnostics.diagnostic import Code, Severity, table

NOT_A_CHANGE: Final = Code("NF0690", Severity.ERROR)
NOTHING_OF_THAT_NAME: Final = Code("NF0691", Severity.ERROR)
ANOTHER_DATABASE: Final = Code("NF0692", Severity.ERROR)

CODES = table(globals())
