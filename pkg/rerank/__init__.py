"""Choose among candidate answers by running them in a sandbox and comparing what they do (P-23 to P-27)."""

if __name__ == "rerank":  # imported through the link at the root, which would define every class twice
    raise ImportError("rerank is a link to pkg/rerank for readers; write: import pkg.rerank")
