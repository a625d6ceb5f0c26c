"""Write docstrings and comments by fill-in-the-middle, as managed data. Nothing lives here yet."""
