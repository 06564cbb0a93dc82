"""The diagnostics of the way back to an older version, NF07xx."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import ERROR, NOTE, Code, table

NOT_THERE = Code("NF0701", ERROR)
TAKEN = Code("NF0702", ERROR)
NO_SUCH_CHANGE = Code("NF0703", ERROR)
ODD_DATES = Code("NF0704", ERROR)
NO_WAY_BACK = Code("NF0705", ERROR)
UNNAMEABLE = Code("NF0706", ERROR)
NEWER_LINE = Code("NF0752", NOTE)

CODES = table(globals())
