"""Lexical search: words, their stems and numbers, and the inverted index that every store searches."""
