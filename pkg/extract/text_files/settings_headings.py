"""Find the parts of settings files: tables of TOML and INI files, keys of YAML files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.extract.text_files.markup_headings import Heading, Lines, clean_title

_TABLE = re.compile(rb"\[{1,2}([^\[\]\r\n]+)\]{1,2}[ \t]*(?:[#;].*)?[\r\n]*$", re.DOTALL)
_LONG_TEXT = re.compile(rb'"""|\'\'\'')


def find_tables(lines: Lines) -> Iterator[Heading]:
    """Find the tables of a TOML file, or the sections of an INI file, except in multi-line strings."""
    closing = b""
    for number, line in enumerate(lines):
        if not closing and (found := _TABLE.match(line)):
            title = clean_title(found[1])
            if title:
                yield Heading(number, 1, title)
        for mark in _LONG_TEXT.findall(line):
            closing = mark if not closing else b"" if mark == closing else closing


_KEY = re.compile(rb"([ ]*)(\"[^\"]+\"|'[^']+'|[^\s#\-\[\]{}&*!|>'\"%@`,:][^:#]*):(?=[ \t]|$)(.*)", re.DOTALL)
_SCALAR = re.compile(rb"[ \t]+(?:[|>][+\-0-9]*|[&!]\S+[ \t]+[|>][+\-0-9]*)[ \t]*(?:#.*)?$", re.DOTALL)


def find_keys(lines: Lines) -> Iterator[Heading]:
    """Find the keys of the two upper levels of a YAML file, except in block scalars."""
    inner, is_text = 0, False  # column of the second level's keys, once known
    for number, line in enumerate(lines):
        found = _KEY.match(line.rstrip(b"\r\n"))
        if found is None:
            continue
        indent, title = len(found[1]), clean_title(found[2].strip(b"'\" \t"))
        if not indent:
            inner, is_text = 0, _SCALAR.match(found[3]) is not None
            yield Heading(number, 1, title or "-")
        elif not is_text:
            inner = inner or indent
            if indent == inner and title:
                yield Heading(number, 2, title)
