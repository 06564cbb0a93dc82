"""The row in which the nodes of one database keep what is due, and the statements on it: there is one in PostgreSQL.

| column     | value                                                                                            |
|------------|--------------------------------------------------------------------------------------------------|
| `due`      | nothing is due before it; null: nothing is in sight                                              |
| `waits`    | something is due, and waits for a write                                                          |
| `asked`    | for what was due up to then, every guard has been asked                                          |
| `progress` | of the sweep that is under way, JSON; null: none is                                              |
| `written`  | when the earliest may be due of what was written while it was                                    |

Whoever writes has the lock that all nodes write under, so one changes it at a time.

Where a replica is read, `"$wrote"` has beside it the mark of the last transaction in which some callers wrote. Callers
have their places in it by a digest, several of them one place.
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

CREATE_WROTE = 'CREATE TABLE IF NOT EXISTS "$wrote" (place bigint PRIMARY KEY, mark text NOT NULL)'

WROTE = (
    'SELECT (SELECT mark FROM "$wrote" WHERE place = CAST(? AS bigint)),'
    ' (SELECT mark FROM "$wrote" WHERE place = CAST(? AS bigint))'
)
"""The marks of two places, one row. No two transactions have the same one, whichever server was the primary."""

SWEPT = 'UPDATE "$due" SET due = ?, waits = ?, asked = ?, progress = NULL, written = NULL'
