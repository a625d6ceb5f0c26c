"""Gather what an answer in words may stand on: code, links, files, texts, each with its place."""
