"""Judging answers with a text model or by word overlap, and checking the judge itself.

Judges run only in `pkg judge`: reranking and generation never call one (A-38).
"""
