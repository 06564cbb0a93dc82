"""What may refuse a request to an endpoint: each condition, the step that finds it, and the facts because of which it
may happen. Everything that tells of errors, or puts them in order, reads it here."""
