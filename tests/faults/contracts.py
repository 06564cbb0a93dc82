"""The contract of these tests, and what becomes of it where they look into its log of events."""

from __future__ import annotations

from pathlib import Path

CONTRACT = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8")

EVENTS_KEPT = CONTRACT.replace("delivery:\n", "kept: P1D\ndelivery:\n  stream: server-sent events\n", 1)
"""Where no stream goes back to events, those that have been delivered are removed, some seconds after the start: a test
that counts them races the cleaning."""

assert EVENTS_KEPT != CONTRACT
