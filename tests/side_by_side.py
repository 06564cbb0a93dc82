"""The whole suite as two runs of pytest side by side, since one takes twice as long: `python -m tests.side_by_side`.

One run has the folders that take the longest, the other one the rest. The rest is shown as it goes, the first when it
ends.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

HERE: Final = Path(__file__).parent
LONGEST: Final = ("agreement", "faults", "honesty", "laws", "owasp", "trace")

PYTEST: Final = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
"""Neither keeps a cache: both would write the same one."""


def main() -> int:
    """The exit status: 0 only where both runs end well."""
    paths = [str(HERE / name) for name in LONGEST]
    others = [str(HERE), *(f"--ignore={path}" for path in paths)]
    with TemporaryFile() as said:
        longest = subprocess.Popen([*PYTEST, *paths], stdout=said, stderr=subprocess.STDOUT, cwd=HERE.parent)
        rest = subprocess.run([*PYTEST, *others], cwd=HERE.parent, check=False).returncode
        longest.wait()
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    return 0 if rest == longest.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
