"""Evaluation of models on a bench of preferences, by the grades of a judge (C-16 to C-20)."""
