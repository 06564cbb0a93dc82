"""What is decided over rows, in a document beside the contract: read, and turned into steps of an upgrade."""
