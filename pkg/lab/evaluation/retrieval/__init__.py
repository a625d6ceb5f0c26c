"""Evaluation of retrieval on judged questions (`pkg eval retrieval`), and on those of a graph itself (`pkg bench`)."""
