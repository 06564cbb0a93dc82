"""Document to Contract: shape becomes meaning. One file a part; `names` holds what refers to what."""
