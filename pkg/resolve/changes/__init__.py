"""Changes: which files are resolved again, and what the links of each stood on (A-12)."""
