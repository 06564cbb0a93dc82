"""Document to Contract: shape becomes meaning. One file a part; `names` holds what refers to what, and `contract` is
where to start."""
