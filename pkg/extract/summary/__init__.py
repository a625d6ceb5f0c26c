"""Summaries: what the code of one file does with names and values, told from its text alone (A-12)."""
