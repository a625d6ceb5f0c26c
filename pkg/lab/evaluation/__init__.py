"""Measure whether any of it helped. Nothing lives here yet."""
