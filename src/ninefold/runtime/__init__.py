"""A plan, run. Nothing here has heard of contracts.

Read `request/steps.py` first: a request from its arrival to its answer, step by step. What each step needs was made
ready by `request/endpoints.py` before the first request; `http/app.py` is where requests come from.
"""
