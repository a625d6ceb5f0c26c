"""The graph as a retriever: a plain callable (code_retriever), and a retriever class for each framework."""
