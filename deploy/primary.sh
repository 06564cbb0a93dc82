#!/bin/bash
# Once, when the cluster is made. From the next start on a commit waits for the standby.
set -eu
echo "host replication ninefold all scram-sha-256" >> "$PGDATA/pg_hba.conf"
echo "synchronous_standby_names = 'second'" >> "$PGDATA/postgresql.conf"
