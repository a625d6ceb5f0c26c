"""Turn text into units: discovery, corpus rows, functions, classes, blocks, imports and call sites."""
