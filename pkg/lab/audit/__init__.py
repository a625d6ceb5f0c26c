"""Audit of a graph for functions that leak the solutions of a benchmark."""
