"""Make corpora that `pkg build` reads: of rows that are there, and of packages by their licences (`pkg corpus`)."""
