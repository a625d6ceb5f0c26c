"""A local page on which people write and rate pairs of question and answer (Q-03, Q-21)."""
