"""A request through a plan. Nothing here has heard of contracts.

Read `steps.py` first: a request from its arrival to its answer, step by step. What each step needs was made ready
by `endpoints.py` before the first request; `app.py` is where requests come from, and the only place that knows ASGI.
"""
