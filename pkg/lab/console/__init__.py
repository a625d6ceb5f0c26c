"""Command-line front end of the laboratory: options, tables and pages."""
