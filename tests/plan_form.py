"""The golden plans of an earlier commit, in the form in which plans tell of a write now: `python -m tests.plan_form
COMMIT` converts each, and compares it with the golden plan that is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"


def converted(value: Any) -> Any:
    """A plan's JSON with each write in its new form. Nothing is dropped: what is not known stays, and differs."""
    if isinstance(value, list):
        return [converted(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: converted(member) for name, member in value.items()}
    return _write(found) if found.get("operation") == "write" else found


def _write(write: dict[str, Any]) -> dict[str, Any]:
    verb = write["operation"] = write.pop("verb")
    is_gone = verb in ("delete", "remove")
    if write.pop("validator", False):
        represented = write.pop("represented", None)
        write["precondition"] = {} if represented is None else {"represented": represented}
    follows: list[dict[str, Any]] = []
    signed, version = write.pop("subscribes", False), write.pop("version", None)
    if signed or version is not None:
        own = {} if version is None else {"version": version}
        follows.append({"step": "subscription", **own, **({"signed": True} if signed else {})})
    if (then := write.pop("then", None)) is not None:
        follows.append({"step": "effects", **then, **({"before": True} if verb == "delete" else {})})
    before, after = write.pop("before", []), write.pop("after", [])
    assert not (before if not is_gone else after)
    if before or after:
        follows.append({"step": "events", "events": before or after, **({"before": True} if before else {})})
    follows += [{"step": "further", "write": each} for each in write.pop("further", [])]
    issue = write.pop("issues", None)
    granted = None if issue is None else issue.pop("granted", None)
    if granted is not None:
        issue["store_scopes"] = granted.pop("store")
        follows.append({"step": "scopes", **granted})
    if (read := write.pop("read", None)) is not None:
        follows.append({"step": "read", "select": read})
    follows += [{"step": "ending", **each} for each in write.pop("ends", [])]
    if issue is not None:
        follows.append({"step": "issue", **issue})
    if follows:
        write["follows"] = follows
    return write


def main(commit: str) -> int:
    wrong = 0
    goldens = sorted(CASES.glob("*/plan.json"))
    for golden in goldens:
        shown = f"{commit}:./{golden.relative_to(CASES.parents[1])}"
        was = subprocess.run(["git", "show", shown], capture_output=True, check=True, text=True).stdout
        if converted(json.loads(was)) != json.loads(golden.read_text(encoding="utf-8")):
            wrong += 1
            print(f"{golden.parent.name} is another")
    print(f"{len(goldens) - wrong} of {len(goldens)} plans are equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
