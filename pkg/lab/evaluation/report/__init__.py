"""Reports of runs: tables, figures and pages."""
