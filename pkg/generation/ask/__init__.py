"""Answer questions about a repository in words, from numbered evidence, with checked citations (Q-14, Q-16)."""
