"""Sets of embedded stores that are searched as one, for a graph that one file should not hold."""
