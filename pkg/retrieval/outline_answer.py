"""What an outline is made of, and the line that each part of it is written as: the budget is counted by these lines."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.model import HEADINGS, Label, Stale
from pkg.quoting.hidden_characters import spell_line


@dataclass(frozen=True, slots=True)
class DefinitionOutline:
    """A class or function by its header, or a section of a text by its heading, in a file."""

    id: str
    label: str
    qualname: str
    start_line: int
    end_line: int
    signature: str  # on one line
    summary: str | None  # first sentence of its docstring, in the outline of a file alone
    callers: int  # functions, classes and modules that call it, certainly or likely


@dataclass(frozen=True, slots=True)
class FileOutline:
    """A file, how central it is, and those of its definitions that are shown, in the order of the text."""

    path: str
    centrality: float  # all files of the source together have 1
    importers: int  # files that import it, or anything of it
    imports: int  # files of the source that it imports
    total: int  # definitions that it has, without those inside of functions
    summary: str | None  # first sentence of its docstring
    definitions: tuple[DefinitionOutline, ...] = ()
    is_stale: bool = False  # whether it is not what the graph was built from any more


@dataclass(frozen=True, slots=True)
class FolderOutline:
    """A folder, how central its files are together, and the folders that they import from, most first."""

    path: str
    files: int
    centrality: float
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeOutline:
    """The folders and files of a source, or of a part of it, the most central first, within a budget."""

    source: str
    path: str  # "" for all of the source
    folders: tuple[FolderOutline, ...]
    files: tuple[FileOutline, ...]
    total_files: int
    total_definitions: int
    tokens: int  # of what is shown, by a rule of thumb
    budget: int
    stale: tuple[Stale, ...] = ()

    @property
    def left_out_files(self) -> int:
        """Count the files that the budget had no room for."""
        return self.total_files - len(self.files)

    @property
    def left_out_definitions(self) -> int:
        """Count the definitions that the budget had no room for."""
        return self.total_definitions - sum(len(each.definitions) for each in self.files)


def say_folder(folder: FolderOutline) -> str:
    """Write the line of a folder."""
    imports = f"; imports {', '.join(folder.imports)}" if folder.imports else ""
    return spell_line(f"{folder.path}/  {count_things(folder.files, 'file')}{imports}")


def say_file(file: FileOutline) -> str:
    """Write the line of a file."""
    importers = f"  imported by {count_things(file.importers, 'file')}" if file.importers else ""
    return spell_line(f"{file.path}{importers}" + (f"  {file.summary}" if file.summary else ""))


def say_definition(definition: DefinitionOutline) -> str:
    """Write the line of a definition, further to the right the more classes, or headings of a text, are around it."""
    separator = HEADINGS if definition.label == Label.CHUNK.value else "."
    indent = "  " * (1 + definition.qualname.count(separator))
    summary = f"  {definition.summary}" if definition.summary else ""
    return spell_line(f"{indent}{definition.start_line}: {definition.signature}{summary}")


def count_things(count: int, name: str) -> str:
    """Write a number of things."""
    return f"{count:,} {name}" + ("" if count == 1 else "s")
