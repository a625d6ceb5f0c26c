"""Datasets of questions and answers about a repository, from its files, its graph and a model (Q-02, Q-05 to Q-12)."""
