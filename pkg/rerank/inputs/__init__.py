"""Generate inputs to compare candidates, from the examples of the query or the types of parameters."""
