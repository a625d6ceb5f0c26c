"""Choose among candidate answers by running them in a sandbox and comparing what they do (P-23 to P-27)."""

if __name__ == "rerank":  # come in by the link at the root: every class of the package would be there twice
    raise ImportError("rerank is a link to pkg/rerank for readers; write: import pkg.rerank")
