"""Find, prune, complete and pack what a question needs."""

if __name__ == "retrieval":  # come in by the link at the root: every class of the package would be there twice
    raise ImportError("retrieval is a link to pkg/retrieval for readers; write: import pkg.retrieval")
