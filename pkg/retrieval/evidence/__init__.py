"""Evidence for answers in words: code, links, files and texts, each with its place."""
