"""Long questions, such as issues: their parts, what they point at, and the search that joins all of it (P-13)."""
