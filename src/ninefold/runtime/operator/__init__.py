"""The second port: what the operator asks of a running service. Nothing of the contract is here."""
