"""How many requests a second the example service answers: one server process, one load generator.

    python benchmarks/throughput.py       needs wrk (https://github.com/wg/wrk) on the PATH

The service is `examples/orders.md` without its rates, on a new SQLite file, started as a user would start it, with
its access log going to a file. The server and wrk are each kept on one core where the system can do that. Figures move
with the machine and with what else runs on it: compare runs taken in turn, and quote medians and ratios.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

EXAMPLE = Path(__file__).parent.parent / "examples" / "orders.md"
ORDER = {"lines": [{"sku": "ABC-1", "quantity": 2, "unit_price": 150}]}
JSON = {"Content-Type": "application/json"}
ROUNDS, SECONDS, CONNECTIONS = 3, 4, 32


def without_rates(contract: str) -> str:
    """A benchmark of refusals would be a fast one."""
    return re.sub(r"rates:\n(  .*\n)+headers: .*\n", "rates: none\n", contract)


def on_core(core: int) -> list[str]:
    return ["taskset", "-c", str(core)] if shutil.which("taskset") else []


def post(address: str, body: object, headers: dict[str, str]) -> dict[str, str]:
    request = Request(address, json.dumps(body).encode(), {**JSON, **headers}, method="POST")
    with urlopen(request) as response:
        answer: dict[str, str] = json.load(response)
        return answer


def started(log: Path) -> str:
    """The address that the service says it listens on."""
    for _ in range(200):
        found = re.search(r"^service +(\S+)", log.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found.group(1)
        time.sleep(0.05)
    raise SystemExit("the service did not start")


def measured(address: str, headers: dict[str, str], script: Path | None) -> float:
    """Requests a second, by wrk."""
    command = [*on_core(1), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s"]
    command += [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    command += ["-s", str(script)] if script is not None else []
    printed = subprocess.run([*command, address], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in printed:
        raise SystemExit(f"{address} refused requests:\n{printed}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", printed).group(1))  # type: ignore[union-attr]


def main() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed")
    with tempfile.TemporaryDirectory() as folder:
        contract, script = Path(folder, "orders.md"), Path(folder, "create.lua")
        contract.write_text(without_rates(EXAMPLE.read_text(encoding="utf-8")), encoding="utf-8")
        script.write_text(
            'wrk.method = "POST"\n'
            'wrk.headers["Content-Type"] = "application/json"\n'
            f"wrk.body = [[{json.dumps(ORDER)}]]\n"
        )
        command = [*on_core(0), sys.executable, "-m", "ninefold", "serve", str(contract)]
        command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--database", str(Path(folder, "b.db"))]
        log = Path(folder, "log")
        service = subprocess.Popen(command, stdout=log.open("w"), stderr=subprocess.STDOUT)
        try:
            base = started(log)
            customer = post(f"{base}/customers", {"email": "a@example.com", "name": "A"}, {})
            headers = {"Authorization": f"Bearer {customer['api_key']}"}
            orders = [post(f"{base}/orders", ORDER, headers)["id"] for _ in range(50)]
            subjects = {
                "read one": (f"{base}/orders/{orders[0]}", None),
                "list 20": (f"{base}/orders", None),
                "create": (f"{base}/orders", script),
            }
            figures: dict[str, list[float]] = {name: [] for name in subjects}
            for _ in range(ROUNDS):
                for name, (address, lua) in subjects.items():
                    figures[name].append(measured(address, headers, lua))
            print(f"requests/s, median of {ROUNDS} rounds of {SECONDS} s, {CONNECTIONS} connections")
            for name, values in figures.items():
                spread = f"{min(values):,.0f} to {max(values):,.0f}"
                print(f"  {name:<9} {statistics.median(values):>8,.0f}   ({spread})")
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
