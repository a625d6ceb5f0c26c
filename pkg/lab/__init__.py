"""The laboratory: measure and judge answers, make data sets, and find what leaks of benchmarks."""
