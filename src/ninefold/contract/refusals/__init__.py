"""What may refuse a request to an endpoint, as a contract states it that may be half-written: each condition, the step
that finds it, and the facts because of which it may happen."""
