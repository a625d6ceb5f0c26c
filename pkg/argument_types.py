"""Checks of arguments whose type is easily confused, such as one text where a sequence of texts is expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def check_sequence(name: str, given: object, expected: str) -> None:
    """Raise a TypeError for a text or a mapping, which would be iterated by character or key, and for a single value.

    expected: the items in words, such as ``texts, such as ["src"]``.
    """
    if isinstance(given, str | bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name} is of type {type(given).__name__}; expected a sequence of {expected}")


def check_text(name: str, given: object, expected: str) -> None:
    """Raise a TypeError for anything but a text."""
    if not isinstance(given, str):
        raise TypeError(f"{name} is of type {type(given).__name__}; expected {expected}")
