"""Commands of the laboratory in a terminal: their options, tables and pages."""
