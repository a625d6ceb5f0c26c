"""The evaluation of generated code: benchmarks, columns to compare, verdicts, records, figures (P-26 to P-33)."""
