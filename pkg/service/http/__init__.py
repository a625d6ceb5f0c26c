"""The operations of a graph over HTTP: JSON requests and answers, server-sent events for ask, and OpenAPI."""
