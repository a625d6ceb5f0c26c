"""Text files: sections for the graph, and windows of characters as a baseline."""
