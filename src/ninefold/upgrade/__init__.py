"""A database of one contract becomes one of another: what differs, what may be done about it, and in which steps. Data:
nothing here opens a database."""
