"""CEL: parsed with places, typed against the contract, turned into SQL and into Python."""
