"""Measure answers about a repository: whether the right file is found, and whose answer is better (Q-18, Q-21)."""
