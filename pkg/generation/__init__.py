"""Write prompts for a text model."""

if __name__ == "generation":  # come in by the link at the root: every class of the package would be there twice
    raise ImportError("generation is a link to pkg/generation for readers; write: import pkg.generation")
