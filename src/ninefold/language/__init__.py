"""What may be said in a contract, what may be done and what may go wrong: the only place that knows which there are."""
