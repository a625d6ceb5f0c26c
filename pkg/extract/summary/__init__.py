"""Summaries: what the code of one file does with names and values, from its text alone (A-12)."""
