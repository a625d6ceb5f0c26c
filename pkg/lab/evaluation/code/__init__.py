"""Evaluation of generated code: benchmarks, columns to compare, verdicts, records and figures (P-26 to P-33)."""
