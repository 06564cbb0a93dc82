"""Two contracts, asked the same requests: what the change from one to the other does to those who rely on it
(`compare.diff` is the way into this), and what is left of one without each of its facts (`ablate`)."""
