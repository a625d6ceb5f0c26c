"""Make corpora for `pkg build`: from existing rows, and from packages by their licences (`pkg corpus`)."""
