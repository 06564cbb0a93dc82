"""A request from its arrival to its answer: what it asks for, whether it is taken, who asks, and what is answered."""
