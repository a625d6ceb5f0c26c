"""The rules: each answers queries, and asks others by theirs; none knows another."""
