"""Text files: the sections that the graph keeps, and windows of characters for comparison."""
