"""Prompt forms: how a task, what may help with it, and earlier attempts are put to a text model, one file a form."""
