"""Write prompts for a text model."""
