"""Resolution: which definitions the imports, calls and base classes of a repository mean (A-11, A-12, Q-04)."""
