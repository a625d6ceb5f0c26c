"""Terminal input and output: options, streams, tables, trees, progress."""
