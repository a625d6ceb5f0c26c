"""Which functions of a graph give away the answers of a benchmark."""
