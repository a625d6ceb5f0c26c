"""What every face over HTTP shares: who is let in, what is refused, and where it listens."""
