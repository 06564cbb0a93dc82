"""Document to Contract: `contract` is where to start; `names` holds what refers to what."""
