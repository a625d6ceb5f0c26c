"""The kinds of text models, each imported only when a model is opened."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, overload

from pkg.errors import MissingExtraError, UsageError
from pkg.models.adapters import SIGN, split_adapters
from pkg.models.model_options import ModelOptions, read_options
from pkg.services import OPENAI, conceal_name, is_here, split_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkg.models.text_model import TextModel

TEMPLATE = "template"
"""The name of the writer that makes docstrings from the code without a model."""


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One kind of text model: the syntax of its names, its module and its requirements."""

    syntax: str
    module: str
    packages: tuple[str, ...]  # imported modules
    extra: str  # that installs them

    def list_missing(self) -> list[str]:
        """List the missing packages."""
        return [package for package in self.packages if find_spec(package) is None]


KINDS = {
    "openai": ModelKind("openai:NAME@URL", "pkg.models.openai_model", ("openai",), "openai"),
    "hf": ModelKind("hf:NAME_OR_FOLDER[+ADAPTER]", "pkg.models.hf_model", ("transformers", "torch"), "hf"),
    "gguf": ModelKind("gguf:FILE", "pkg.models.gguf_model", ("xllamacpp", "openai"), "gguf"),
}


def split_name(name: str) -> tuple[str, str]:
    """Split the name of a model into its kind and the rest; raises UsageError for an invalid name.

    `template` is a kind of its own, with an empty rest.
    """
    word, _, detail = name.partition(":")
    if name == TEMPLATE:
        return name, ""
    if word not in KINDS or not detail:
        syntaxes = ", ".join((*(kind.syntax for kind in KINDS.values()), TEMPLATE))
        raise UsageError(f"no model '{conceal_name(name)}'; expected one of: {syntaxes}")
    if word == "openai":
        split_address(detail, word, "model")
    return word, detail


def locate_model(name: str) -> str:
    """Return the name of a model with an absolute path, if it is a file or folder; the same for its adapters."""
    word, _, detail = name.partition(":")
    if word == "gguf" and detail:
        return f"{word}:{Path(detail).expanduser().absolute()}"
    if word != "hf" or not detail:
        return name
    base, adapters = split_adapters(detail)
    path = Path(base).expanduser()
    if path.exists() or base.startswith((".", "~")) or base.endswith(".gguf"):
        base = str(path.absolute())
    return f"{word}:{SIGN.join([base, *(str(Path(each).expanduser().absolute()) for each in adapters)])}"


def find_remote(model: str) -> str | None:
    """Return the address of the machine that serves a model; None for a model on this machine."""
    word, detail = split_name(model)
    if word != "openai":
        return None
    address = OPENAI.choose_url(split_address(detail, word, "model")[1])
    return None if is_here(address) else address


def check_ready(name: str) -> None:
    """Raise MissingExtraError if a package of a model is missing, and UsageError for an invalid name."""
    word, _ = split_name(name)
    kind = KINDS.get(word)
    for package in kind.list_missing() if kind else ():
        raise MissingExtraError(package, KINDS[word].extra, f"the model '{name}'")


def open_model(name: str, options: ModelOptions | None = None) -> TextModel:
    """Open a model by its name, to be closed after use; the environment completes the options.

    Raises UsageError for an invalid name and for `template`, MissingExtraError, and ModelError for an unusable model.
    """
    word, detail = split_name(name)
    if word == TEMPLATE:
        raise UsageError(
            f"'{TEMPLATE}' writes docstrings only (pkg enhance); expected a model that writes any text:"
            f" {', '.join(kind.syntax for kind in KINDS.values())}"
        )
    check_ready(name)
    make: Callable[[str, ModelOptions], TextModel] = import_module(KINDS[word].module).open_model
    return make(detail, (options or ModelOptions()).fill_up(read_options()))


@overload
def use_model(model: str | TextModel) -> AbstractContextManager[TextModel]: ...
@overload
def use_model(model: str | TextModel | None) -> AbstractContextManager[TextModel | None]: ...
def use_model(model: str | TextModel | None) -> AbstractContextManager[TextModel | None]:
    """Open a named model for the block; an open model stays open, and None stays None.

    Raises the errors of open_model.
    """
    return closing(open_model(model)) if isinstance(model, str) else nullcontext(model)
