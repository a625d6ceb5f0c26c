"""Programming Knowledge Graph."""
