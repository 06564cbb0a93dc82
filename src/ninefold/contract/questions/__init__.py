"""What each part asks of a contract, and what it costs to leave a question open."""
