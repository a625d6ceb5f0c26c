"""Parts of an outline, and the line that each is formatted as: the budget counts these lines."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.model import HEADINGS, Label, Stale
from pkg.quoting.hidden_characters import spell_line


@dataclass(frozen=True, slots=True)
class DefinitionOutline:
    """A class or function with its header, or a section of a text with its heading, in a file."""

    id: str
    label: str
    qualname: str
    start_line: int
    end_line: int
    signature: str  # on one line
    summary: str | None  # first sentence of its docstring, only in the outline of a file
    callers: int  # functions, classes and modules that call it, certainly or likely


@dataclass(frozen=True, slots=True)
class FileOutline:
    """A file, its centrality, and its shown definitions in text order."""

    path: str
    centrality: float  # the files of a source add up to 1
    importers: int  # files that import it or any of its definitions
    imports: int  # files of the source that it imports
    total: int  # definitions without those inside functions
    summary: str | None  # first sentence of its docstring
    definitions: tuple[DefinitionOutline, ...] = ()
    is_stale: bool = False  # whether it has changed since the build


@dataclass(frozen=True, slots=True)
class FolderOutline:
    """A folder, the total centrality of its files, and the folders that they import from, most first."""

    path: str
    files: int
    centrality: float
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeOutline:
    """Folders and files of a source, or of a part of it, the most central first, within a budget."""

    source: str
    path: str  # "" for the whole source
    folders: tuple[FolderOutline, ...]
    files: tuple[FileOutline, ...]
    total_files: int
    total_definitions: int
    tokens: int  # estimated size of the shown parts
    budget: int
    stale: tuple[Stale, ...] = ()

    @property
    def left_out_files(self) -> int:
        """Return the number of files that the budget excluded."""
        return self.total_files - len(self.files)

    @property
    def left_out_definitions(self) -> int:
        """Return the number of definitions that the budget excluded."""
        return self.total_definitions - sum(len(each.definitions) for each in self.files)


def format_folder(folder: FolderOutline) -> str:
    """Format the line of a folder."""
    imports = f"; imports {', '.join(folder.imports)}" if folder.imports else ""
    return spell_line(f"{folder.path}/  {count_things(folder.files, 'file')}{imports}")


def format_file(file: FileOutline) -> str:
    """Format the line of a file."""
    importers = f"  imported by {count_things(file.importers, 'file')}" if file.importers else ""
    return spell_line(f"{file.path}{importers}" + (f"  {file.summary}" if file.summary else ""))


def format_definition(definition: DefinitionOutline) -> str:
    """Format the line of a definition, indented by the classes, or headings of a text, around it."""
    separator = HEADINGS if definition.label == Label.CHUNK.value else "."
    indent = "  " * (1 + definition.qualname.count(separator))
    summary = f"  {definition.summary}" if definition.summary else ""
    return spell_line(f"{indent}{definition.start_line}: {definition.signature}{summary}")


def count_things(count: int, name: str) -> str:
    """Format a number of things."""
    return f"{count:,} {name}" + ("" if count == 1 else "s")
