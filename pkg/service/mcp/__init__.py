"""The service as a server of the Model Context Protocol (MCP): few tools and short answers for coding agents."""
