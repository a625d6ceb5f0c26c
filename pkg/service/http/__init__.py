"""The operations of a graph over HTTP: JSON in and out, events for an answer in words, described by OpenAPI."""
