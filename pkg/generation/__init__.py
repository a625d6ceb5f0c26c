"""Answers of a text model, with helper code from the graph."""

if __name__ == "generation":  # imported by the link at the root, which would load every class twice
    raise ImportError("generation is a link to pkg/generation for readers; write: import pkg.generation")
