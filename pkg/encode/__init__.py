"""Turn text into vectors: one file for each encoder."""
