"""A contract or a plan, told to somebody: what is open, why, who may do what, in which words of others."""
