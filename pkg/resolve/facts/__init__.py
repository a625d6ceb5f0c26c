"""Facts: what the text of each file says by itself, scope by scope (A-12)."""
