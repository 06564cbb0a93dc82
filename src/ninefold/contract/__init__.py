"""What a contract says, as typed facts with their places: meaning without machinery."""
