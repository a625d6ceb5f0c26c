"""Pruning: branches of a hit that do not help, and can be removed without breaking the shown code (P-18)."""
