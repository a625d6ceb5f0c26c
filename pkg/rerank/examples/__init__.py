"""Find the examples that a query shows (A-08): what decides most between candidates."""
