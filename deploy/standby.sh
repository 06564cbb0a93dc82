#!/bin/bash
# A copy of the primary, once; then a server that follows it, and that waits for nobody where it is promoted.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    pg_basebackup -d "host=one user=ninefold application_name=second" -D "$PGDATA" -R -X stream -c fast
fi
exec postgres -c synchronous_standby_names= -c archive_mode=off
