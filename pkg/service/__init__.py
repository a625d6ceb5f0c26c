"""Serve a graph to programs, agents and browsers: over HTTP, over the Model Context Protocol, and as a web page."""
