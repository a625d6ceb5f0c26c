"""Make inputs on which candidates can be compared, from what the query shows and from the names of parameters."""
