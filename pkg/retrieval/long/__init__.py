"""Long questions, such as issues: their parts, their mentions, and the search that combines these (P-13)."""
