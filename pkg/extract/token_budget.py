"""The token budget of one text; apart from the extraction, which a build without changes need not load."""

TOKEN_BUDGET = 100_000
"""Maximal number of tokens (names, numbers, strings, operators) of a text extracted whole: some 10,000 lines.

Each takes up to 1 kB temporarily (benchmarks/results/long_files.json).
"""
ONLY_OUTLINE = "only its classes, functions and imports are kept"
"""End of the reason for a file over the budget."""
