"""The operations of a served graph: one catalogue for all front ends."""
