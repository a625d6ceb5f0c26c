"""How much of one text is extracted whole; apart from the extraction, which a build without changes need not load."""

TOKEN_BUDGET = 100_000
"""Names, numbers, strings and signs of a text up to which it is extracted whole: some 10,000 lines as they are written.

Each takes up to 1 kB for a while (benchmarks/results/long_files.json).
"""
ONLY_OUTLINE = "only its classes, functions and imports are kept"
"""How the reason ends that a file is over the budget."""
