"""Keep the graph: the store contract and the stores that honour it."""

if __name__ == "graph":  # come in by the link at the root: every class of the package would be there twice
    raise ImportError("graph is a link to pkg/graph for readers; write: import pkg.graph")
