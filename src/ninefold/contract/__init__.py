"""A whole contract: how it is made, what it leaves open, and what is worked out of it before anything has a type."""
