"""What `ninefold dev` has and `ninefold serve` has not: a service that follows its document while it is written."""
