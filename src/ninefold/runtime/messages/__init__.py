"""From bytes to values and back: parameters, bodies and their rules, representations, problems."""
