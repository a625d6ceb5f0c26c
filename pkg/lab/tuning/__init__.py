"""Fine-tuning of text models on rows of `pkg data`: supervised, by preferences, and merged (Q-13, C-12, C-13, C-15)."""
