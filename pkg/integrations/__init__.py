"""The graph as a retriever: as a plain callable (code_retriever), and as what frameworks expect (one module each)."""
