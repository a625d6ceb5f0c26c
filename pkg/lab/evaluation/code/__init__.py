"""Evaluation of generated code: benchmarks, conditions to compare, scores, records and figures (P-26 to P-33)."""
