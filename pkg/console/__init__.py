"""What a terminal needs: options, streams, tables, trees, progress."""
