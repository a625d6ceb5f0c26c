"""Encoders, which turn texts into vectors."""
