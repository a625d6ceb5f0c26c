"""What can be asked of a graph that is served: one catalogue of operations, whoever asks and however."""
