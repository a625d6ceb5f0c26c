"""Pruning: which branches of a hit do not help, and which of them may go without breaking what is shown (P-18)."""
