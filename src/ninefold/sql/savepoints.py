"""Statements that undo a part of a transaction (SQL:2016, savepoints), the same in every database."""

from __future__ import annotations

BEGIN = "SAVEPOINT part"
UNDO = "ROLLBACK TO part"
END = "RELEASE part"
