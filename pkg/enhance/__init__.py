"""Write docstrings and comments of functions that have none, and check them; of graphs nothing is known here."""
