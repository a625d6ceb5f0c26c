"""Find, prune, complete and pack what a question needs."""
