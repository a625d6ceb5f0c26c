"""Documents as tutorials: their text as a tree of facts, each a chain of keys with a value (P-12)."""
