"""Serve what PKG does to programs and people over HTTP: for now the page on which people rate."""
