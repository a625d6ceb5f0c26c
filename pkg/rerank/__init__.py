"""Choose among candidate answers. Nothing lives here yet."""
