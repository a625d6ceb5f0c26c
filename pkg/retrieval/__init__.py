"""Retrieval: search, pruning, completion and packing of code for a question."""

if __name__ == "retrieval":  # imported through the link at the root: every class of the package would exist twice
    raise ImportError("retrieval is a link to pkg/retrieval for readers; write: import pkg.retrieval")
