"""What a reader gets of runs: tables, figures, one page."""
