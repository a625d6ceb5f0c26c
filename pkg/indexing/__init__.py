"""The use case build: discover, extract, encode, store, resolve; keep a graph fresh; export it."""
