"""Stages of the reranker: each returns a verdict on every remaining candidate."""
