"""Servers of PostgreSQL of which one follows another, each in a directory of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.postgresql import server
from tests.waiting import until


def state(pid: int) -> str:
    """Of a process, as `ps` has it: `T` is stopped, `Z` ended; nothing where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Cluster:
    """A directory with a server that may run."""

    def __init__(self, where: Path) -> None:
        where.mkdir(mode=0o755)
        self.where = where
        self.url = f"postgresql://ninefold@/postgres?host={where}"
        self.running: subprocess.Popen[bytes] | None = None
        self.settings: dict[str, str] = {}

    def begin(self, **settings: str) -> None:
        self.settings = settings
        self.running = server.begin(self.where, {**server.SETTINGS, **settings})

    def kill(self) -> None:
        """All its processes at once, as where the machine dies."""
        if self.running is not None:
            pid = self.running.pid
            self.running.send_signal(signal.SIGSTOP)
            # Whoever was begun until then is one of them, and what they share is in use until they have gone.
            until(lambda: state(pid) in ("T", "Z", ""))
            children = [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
            for each in (pid, *children):
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            self.running.wait()
            until(lambda: all(state(each) in ("Z", "") for each in children))
            self.running = None

    def end(self) -> None:
        self.kill()
        server.forget(self.where)

    def stop(self) -> None:
        """Without waiting for those who are connected (`pg_ctl stop -m fast`)."""
        if self.running is not None:
            self.running.send_signal(signal.SIGINT)
            self.running.wait()
            self.running = None

    def kill_one(self) -> None:
        """Kill a process that serves a connection. The server then ends all others, and recovers as after a crash."""
        of_clients = (
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        ((pid,), *_) = until(lambda: server.run(self.url, of_clients))
        os.kill(pid, signal.SIGKILL)
        until(lambda: state(pid) in ("Z", ""))
        until(self._answers)

    def _answers(self) -> bool:
        asked = [server.program("pg_isready"), "-q", "-h", str(self.where)]
        return subprocess.run(asked).returncode == 0

    def standby_of(self, other: Cluster) -> None:
        """A copy of it, which follows it as the standby `second`."""
        server.hand_over(self.where)
        copy = [server.program("pg_basebackup"), "-h", str(other.where), "-U", "ninefold", "-D", f"{self.where}/data"]
        subprocess.run([*copy, "-R", "-c", "fast", "--no-sync"], check=True, cwd="/", **server.UNPRIVILEGED)
        self.begin(primary_conninfo=f"host={other.where} user=ninefold application_name=second")

    def promote(self) -> None:
        server.run(self.url, "SELECT pg_promote()")


@contextmanager
def clusters(count: int) -> Iterator[Sequence[Cluster]]:
    # A socket's path is short.
    with tempfile.TemporaryDirectory(prefix="ninefold-standby-") as directory, ExitStack() as stack:
        Path(directory).chmod(0o755)
        found = [Cluster(Path(directory) / str(number)) for number in range(count)]
        for each in found:
            stack.callback(each.end)
        yield found
