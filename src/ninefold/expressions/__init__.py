"""CEL: parsed with places, typed against the contract, turned into Python (`ninefold.sql.expressions`: into SQL)."""
