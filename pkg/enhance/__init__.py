"""Write and check docstrings and comments of functions, independent of graphs."""
