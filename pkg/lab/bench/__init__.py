"""Measure a graph of one's own: what it finds, what answers cost, which encoder serves its code (`pkg bench`)."""
