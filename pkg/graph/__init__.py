"""Graph stores: the store interface and its implementations."""

if __name__ == "graph":  # imported by the link at the root: every class would exist twice
    raise ImportError("graph is a link to pkg/graph for readers; write: import pkg.graph")
