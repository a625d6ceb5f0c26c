"""Vector files and exact search, the same for every store."""
