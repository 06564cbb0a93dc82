"""What may be said in a contract, and what may go wrong: the only place that knows which conditions there are."""
