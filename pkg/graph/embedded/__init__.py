"""The embedded store: one SQLite file, with files of vector codes and of terms beside it."""
