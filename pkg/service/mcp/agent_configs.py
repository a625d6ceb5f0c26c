"""Where each agent keeps the servers that it starts, and in which form."""

from __future__ import annotations

AGENTS = ("claude-code", "cursor", "vscode", "codex", "gemini")
SCOPES = ("project", "user")
