"""The row in which the nodes of one database keep what is due, and the statements on it: there is one in PostgreSQL.

| column     | value                                                                                            |
|------------|--------------------------------------------------------------------------------------------------|
| `due`      | nothing is due before it; null: nothing is in sight                                              |
| `waits`    | something is due, and waits for a write                                                          |
| `asked`    | for what was due up to then, every guard has been asked                                          |
| `progress` | of the sweep that is under way, JSON; null: none is                                              |
| `written`  | when the earliest may be due of what was written while it was                                    |

Whoever writes has the lock that all nodes write under, so one changes it at a time.
"""

from __future__ import annotations

DUE = 'SELECT due FROM "$due"'

STANDING = 'SELECT due, asked, progress, written FROM "$due"'

WRITTEN = (
    "UPDATE \"$due\" SET due = CASE WHEN waits THEN '' ELSE least(due, CAST(?1 AS text)) END,"
    " written = CASE WHEN waits THEN '' ELSE least(written, CAST(?1 AS text)) END"
    " WHERE due IS NULL OR due > CAST(?1 AS text) OR (waits AND due <> '') OR progress IS NOT NULL"
)
"""Something was written. Bind: the time before which nothing of it is due."""

UNDER_WAY = 'UPDATE "$due" SET progress = ?, due = ?, written = ?'

SWEPT = 'UPDATE "$due" SET due = ?, waits = ?, asked = ?, progress = NULL, written = NULL'
