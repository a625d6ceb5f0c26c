"""Keep the graph: the store contract and the stores that honour it."""
