"""Serve the graph over HTTP and MCP. Nothing lives here yet."""
