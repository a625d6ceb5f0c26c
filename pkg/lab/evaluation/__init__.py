"""Evaluation of retrieval, generated code, answers about repositories, and judgements."""
