"""Text models, one file a provider, behind one protocol."""
