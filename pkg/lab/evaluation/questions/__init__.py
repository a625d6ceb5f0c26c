"""Evaluation of answers about a repository: is the right file found, and which answer is better (Q-18, Q-21)."""
