"""Measure how well a graph finds what is asked: judged questions (`pkg eval retrieval`), and its own (`pkg bench`)."""
