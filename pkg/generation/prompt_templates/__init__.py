"""Prompt templates: how a task, helper code and earlier attempts are laid out for a text model."""
