"""Text models of several providers with one interface."""
