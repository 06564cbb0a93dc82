"""The table in which idempotency keys are kept, and the statements on it: texts that no contract changes.

| column     | value                                                                                |
|------------|--------------------------------------------------------------------------------------|
| `key`      | what a key is found by: a digest of it, of who sent it and of where it was sent to    |
| `request`  | a digest of the request that came with it                                             |
| `response` | the response to that request, sealed                                                  |
| `expires`  | microseconds since 1970 (UTC) from which on the key means nothing                     |

It is part of how a database of ours is laid out (`ninefold.upgrade.shape`), and made when a contract first has
endpoints that take keys.
"""

from __future__ import annotations

TABLE = '"$idempotency"'

CREATE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} (\n  key BLOB NOT NULL PRIMARY KEY,\n  request BLOB NOT NULL,\n"
    "  response BLOB NOT NULL,\n  expires INTEGER NOT NULL\n) STRICT",
    f'CREATE INDEX IF NOT EXISTS "$idempotency by expires" ON {TABLE} (expires)',
)

FIND = f"SELECT request, response FROM {TABLE} WHERE key = ? AND expires > ?"

STORE = (
    f"INSERT INTO {TABLE} (key, request, response, expires) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE "
    "SET request = excluded.request, response = excluded.response, expires = excluded.expires"
)

CLEAN = f"DELETE FROM {TABLE} WHERE key IN (SELECT key FROM {TABLE} WHERE expires <= ? ORDER BY expires LIMIT ?)"
