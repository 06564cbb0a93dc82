"""The honesty law: each fact of a contract taken away, and what the service does without it."""
