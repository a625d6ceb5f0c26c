"""Quote what comes from a repository: in text for people and agents, and in prompts for text models."""
