"""From a contract to what is served: names and types, what is blocked, what this build does not put in force."""
