"""Who may do what: the matrix of callers, endpoints, rows and states, as a contract states it."""
