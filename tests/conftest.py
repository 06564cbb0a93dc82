"""How the whole suite runs. Hypothesis: under CI the same examples every time, and a failure prints the line
that repeats it; otherwise new examples each time. Neither has a deadline: machines differ."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")
